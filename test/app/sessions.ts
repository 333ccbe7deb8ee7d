/** Sessions for the tests of the web page's paths: a signed-in account, and its requests. */

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import type { Account } from '../../src/accounts/account.ts'
import { hashSecret } from '../../src/accounts/session.ts'
import { csrfToken, SESSION_COOKIE } from '../../src/api/auth/session-authenticator.ts'
import type { Seen, World } from '../spec/world.ts'

export type Visitor = {
  account: Account
  /** The headers of a request that the page sends, with the CSRF token. */
  headers: Record<string, string>
  /** Sends a request as the page does. A body is sent as JSON. */
  send(path: string, method?: string, body?: object): Promise<Seen>
  /** The JSON of a GET that succeeds. */
  read<Body>(path: string): Promise<Body>
}

/** Starts a session of an account. */
export async function visit(world: World, account: Account): Promise<Visitor> {
  const secret = randomBytes(32).toString('base64url')
  const session = { account: account.id, browser: 'a browser', address: '192.0.2.1', hash: hashSecret(secret)! }
  await world.store.ledger.createSession(session, world.clock.now)
  const headers = { Cookie: `${SESSION_COOKIE}=${secret}`, 'X-CSRF-Token': csrfToken(secret) }
  const send = (path: string, method = 'GET', body?: object): Promise<Seen> =>
    world.send(path, { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) })
  return {
    account,
    headers,
    send,
    async read<Body>(path: string) {
      const seen = await send(path)
      assert.equal(seen.status, 200, `${path}: ${seen.text}`)
      return seen.body as Body
    },
  }
}

/** Asserts that a response is this error, and returns its body. */
export function assertError(seen: Seen, status: number, error: string): Record<string, unknown> {
  const body = seen.body as Record<string, unknown>
  assert.deepEqual([seen.status, body?.error, body?.rcode], [status, error, status], seen.text)
  return body
}
