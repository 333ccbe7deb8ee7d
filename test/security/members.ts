/** Members for the security tests: accounts with a password, and the requests of their browsers. */

import assert from 'node:assert/strict'
import type { Account } from '../../src/accounts/account.ts'
import { PasswordHasher } from '../../src/api/auth/password-hasher.ts'
import type { Seen, Wanted, World } from '../spec/world.ts'
import { TESTER } from '../tester.ts'

export const PASSWORD = 'correct horse battery'
const HASH = await new PasswordHasher().hash(PASSWORD)

type Headers = Record<string, string>

/** A browser after a sign-in: its cookie, and its requests with the CSRF token. */
export type Browser = { cookie: string; send(path: string, method?: string, body?: object): Promise<Seen> }

/** The requests of people who sign in to a world. */
export function membersOf(world: World) {
  const post = (path: string, body: object, headers: Headers = {}): Promise<Seen> =>
    world.send(path, { method: 'POST', headers, body: JSON.stringify(body) })
  return {
    post,
    async member(wanted: Wanted = {}): Promise<Account> {
      const { account } = await world.account(wanted)
      await world.store.ledger.as(TESTER).setPassword(account.id, HASH, null, world.clock.now)
      return account
    },
    signIn: (email: string, password = PASSWORD, headers: Headers = {}): Promise<Seen> =>
      post('/app/sign-in', { email, password }, headers),
    /** The browser that got a response with a new session. */
    browser(seen: Seen): Browser {
      assert.equal(seen.status, 200, seen.text)
      const cookie = seen.headers.get('set-cookie')!.split(';')[0]!
      const headers = { Cookie: cookie, 'X-CSRF-Token': (seen.body as { csrf: string }).csrf }
      const send = (path: string, method = 'GET', body?: object) =>
        world.send(path, { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) })
      return { cookie, send }
    },
    /** The address of the account of a cookie; null if it is no session. Half a second has passed since before. */
    async accountOf(cookie: string): Promise<string | null> {
      world.clock.ticks += 1_000
      const seen = await world.send('/app/session', { headers: { Cookie: cookie } })
      return (seen.body as { account: { email: string } | null }).account?.email ?? null
    },
  }
}
