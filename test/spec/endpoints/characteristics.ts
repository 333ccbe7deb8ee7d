/** The response of /lookup, described by its differences from that of a known domain that was never crawled. */

import assert from 'node:assert/strict'
import type { World } from '../world.ts'

const NEVER_CRAWLED = {
  has_website: 'no',
  redirect_to_https: 'no',
  redirect_to_www: 'no',
  redirect_to_domain: 'no',
  only_with_www: 'no',
  only_dns_no_web: 'no',
  ssl: 'nocert',
  redirect_count: '0',
  reverse_ip_count: '0',
  social_networks: [],
  social_accounts: [],
}

/** Asserts the whole response to a query. */
export function foundIn(world: World, token: string): (query: string, expected: object) => Promise<void> {
  return async (query, expected) => {
    const seen = await world.ask('lookup', { token, query })
    assert.equal(seen.status, 200)
    assert.deepEqual(seen.body, { meta: { query, rcode: 200, msg: 'ok' }, result: { ...NEVER_CRAWLED, ...expected } })
  }
}

let count = 0

/** A domain that no other test uses. */
export function fresh(): string {
  return `domain${count++}.example`
}
