/** The responses of the API over HTTP, each compared with a plain model after the same observations. */

import assert from 'node:assert/strict'
import type { DomainName } from '../../src/values/domain-name.ts'
import type { IpAddress } from '../../src/values/ip-address.ts'
import { RECORD_TYPES } from '../../src/values/records/dns-record.ts'
import { formatInstant } from '../../src/values/time.ts'
import { rowsOf } from '../spec/walks.ts'
import type { World } from '../spec/world.ts'
import type { Model } from '../store/model.ts'

const yes = (is: boolean) => (is ? 'yes' : 'no')

/** `token`: of an account whose plan allows every endpoint. */
export function answersOf(world: World, token: string, model: Model) {
  return {
    async lookup(query: DomainName): Promise<void> {
      const { body } = await world.ask('lookup', { token, query })
      assert.deepEqual(body, { meta: { query, rcode: 200, msg: 'ok' }, result: characteristics(model, query) })
    },

    async redirect(query: DomainName): Promise<void> {
      const rows = await rowsOf(world, 'redirect', { token, query })
      assert.deepEqual(
        rows,
        model.redirects(query).map((target) => ({ target })),
      )
    },

    /** By domain: its neighbours. */
    async neighbours(query: DomainName): Promise<void> {
      const addresses = model.addresses(query)
      if (addresses.length === 0) return expectNothing(query)
      const { body } = await world.ask('reverseip', { token, query, limit: 1 })
      assert.deepEqual((body as { meta: { ips: unknown } }).meta.ips, addresses)
      assert.deepEqual(await rowsOf(world, 'reverseip', { token, query }), model.neighbours(addresses, query))
    },

    /** By address: all domains on it. */
    async tenants(query: IpAddress): Promise<void> {
      const rows = model.neighbours([query], null)
      if (rows.length === 0) return expectNothing(query)
      assert.deepEqual(await rowsOf(world, 'reverseip', { token, query }), rows)
    },

    async dnshistory(query: DomainName): Promise<void> {
      const { body } = await world.ask('dnshistory', { token, query })
      assert.deepEqual((body as { result: unknown }).result, history(model, query))
    },
  }

  async function expectNothing(query: string): Promise<void> {
    const { status } = await world.ask('reverseip', { token, query })
    assert.equal(status, 404)
  }
}

function characteristics(model: Model, name: DomainName): Record<string, unknown> {
  const { dns: _, web: __, ip, ...expected } = model.lookup(name)!
  return {
    has_website: yes(expected.has_website),
    redirect_to_https: yes(expected.redirect_to_https),
    redirect_to_www: yes(expected.redirect_to_www),
    redirect_to_domain: yes(expected.redirect_to_domain),
    only_with_www: yes(expected.only_with_www),
    only_dns_no_web: yes(expected.only_dns_no_web),
    ssl: expected.ssl,
    ...(ip !== null && { ip }),
    redirect_count: String(expected.redirect_count),
    reverse_ip_count: String(expected.reverse_ip_count),
    social_networks: JSON.parse(expected.social_networks),
    social_accounts: JSON.parse(expected.social_accounts),
  }
}

function history(model: Model, name: DomainName): Record<string, unknown> {
  const states = RECORD_TYPES.map((type) => [
    type,
    model.history(name, type).map(({ first_seen, records }) => ({
      first_seen: formatInstant(first_seen),
      records: JSON.parse(records),
    })),
  ])
  return Object.fromEntries(states)
}
