/** The session authenticator: cookies, lifetimes, CSRF tokens and origins, over a real ledger. */

import assert from 'node:assert/strict'
import { createHash, createHmac, randomBytes } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import { SESSION_IDLE_SECONDS, SESSION_MAX_SECONDS } from '../../src/accounts/session.ts'
import { OriginCheck, SessionAuthenticator } from '../../src/api/auth/session-authenticator.ts'
import { ApiError } from '../../src/api/http/errors.ts'
import type { ApiRequest } from '../../src/api/http/exchange.ts'
import { openStore } from '../../src/store/open.ts'
import { folderOf } from '../cli/run.ts'
import { TESTER } from '../tester.ts'

const START = 1_795_176_000

async function world(t: TestContext, publicUrl: string | null = null) {
  const { path } = folderOf(t)
  const clock = { now: START }
  const store = await openStore(`sqlite:${path('s.db')}`, {
    ...({ access: 'write', ledger: 'own', secret: null, now: () => clock.now } as const),
  })
  t.after(() => store.close())
  const { ledger } = store
  const new_ = { email: 'ann@example.com', role: 'user', plan: 'basic', periods: [], addons: [] } as const
  const account = (await ledger.as(TESTER).createAccount(new_, START))!
  const secret = randomBytes(32).toString('base64url')
  const hash = createHash('sha256').update(secret).digest()
  const session = await ledger.createSession({ account: account.id, hash, browser: '', address: '' }, START)
  const sessions = new SessionAuthenticator({
    ...{ ledger, origins: new OriginCheck(publicUrl), now: () => clock.now, monotonicMs: () => clock.now * 1000 },
    onFault: (fault) => assert.fail(String(fault)),
  })
  const csrf = createHmac('sha256', secret).update('csrf').digest('base64url')
  const request = (headers: Record<string, string>, cookie = `__Host-domaindex=${secret}`): ApiRequest =>
    ({ headers: { host: 'x.test', cookie, ...headers }, accessRecord: {} }) as unknown as ApiRequest
  const written = () => ledger.clearAttempts([]) // follows the writes before it
  const ask = async (headers: Record<string, string> = {}, options = { csrf: false }, cookie?: string) => {
    try {
      const caller = await sessions.authenticateSession(request(headers, cookie), options)
      await written()
      return `${caller.account.email} ${caller.token} ${caller.limits.dailyCalls}`
    } catch (error) {
      assert.ok(error instanceof ApiError)
      return error.key
    }
  }
  return { clock, ledger, account, session, secret, csrf, ask, sessions, request }
}

const ANN = 'ann@example.com 0 25000'

test('the cookie of a session names its account; any other cookie is no session', async (t) => {
  const { ask, secret } = await world(t)
  assert.equal(await ask(), ANN)
  for (const cookie of [`a=b; __Host-domaindex=${secret}; c=d`, `a=b;__Host-domaindex=${secret}`])
    assert.equal(await ask({}, { csrf: false }, cookie), ANN)
  const wrong = [
    '',
    `__Host-domaindex=`,
    `__Host-domaindex=${secret}x`,
    `__Host-domaindex=${secret.slice(1)}`,
    `x__Host-domaindex=${secret}`,
    `__Host-domaindex=${randomBytes(32).toString('base64url')}`,
  ]
  for (const cookie of wrong) assert.equal(await ask({}, { csrf: false }, cookie), 'session_missing', cookie)
})

test('a change needs the CSRF token of the session, and comes from a page of this server', async (t) => {
  const { ask, csrf } = await world(t)
  const change = (headers: Record<string, string>) => ask(headers, { csrf: true })
  const token = { 'x-csrf-token': csrf }
  assert.equal(await change(token), ANN)
  assert.equal(await change({ ...token, origin: 'https://x.test', 'sec-fetch-site': 'same-origin' }), ANN)
  for (const headers of [
    {},
    { 'x-csrf-token': '' },
    { 'x-csrf-token': `${csrf}x` },
    { ...token, origin: 'https://y.test' },
    { ...token, origin: 'https://x.test:8443' },
    { ...token, origin: 'null' },
    { ...token, 'sec-fetch-site': 'cross-site' },
    { ...token, 'sec-fetch-site': 'same-site' },
    { ...token, 'sec-fetch-site': 'none' },
  ])
    assert.equal(await change(headers), 'origin_refused', JSON.stringify(headers))
  assert.equal(
    await ask({ origin: 'https://y.test' }),
    ANN,
    'reading needs no token: no other page can read the answer',
  )
})

test('given a public address, only its origin may change anything', async (t) => {
  const { ask, csrf } = await world(t, 'https://public.test/')
  const token = { 'x-csrf-token': csrf }
  assert.equal(await ask({ ...token, origin: 'https://public.test' }, { csrf: true }), ANN)
  assert.equal(await ask({ ...token, origin: 'http://public.test' }, { csrf: true }), 'origin_refused')
  assert.equal(await ask({ ...token, origin: 'https://x.test' }, { csrf: true }), 'origin_refused')
})

test('a session ends when it is idle too long', async (t) => {
  const { ask, clock } = await world(t)
  clock.now = START + SESSION_IDLE_SECONDS - 1
  assert.equal(await ask(), ANN)
  clock.now += SESSION_IDLE_SECONDS - 1
  assert.equal(await ask(), ANN, 'its use was recorded')
  clock.now = START + SESSION_MAX_SECONDS - 1
  assert.equal(await ask(), ANN)
  clock.now += 1
  assert.equal(await ask(), 'session_missing', 'its maximum')
  const idle = await world(t)
  idle.clock.now = START + SESSION_IDLE_SECONDS
  assert.equal(await idle.ask(), 'session_missing')
})

test('the use of a session is recorded at most once a minute', async (t) => {
  const { ask, clock, ledger, account } = await world(t)
  const lastUsed = async () => (await ledger.sessions(account.id))[0]!.last_used
  for (const [after, recorded] of [
    [59, 0],
    [60, 60],
    [61, 60],
    [119, 60],
    [120, 120],
  ] as const) {
    clock.now = START + after
    await ask()
    assert.equal(await lastUsed(), START + recorded, `after ${after} seconds`)
  }
})

test('an account has at most 100 sessions: a new one ends the oldest', async (t) => {
  const { ledger, account, session, ask } = await world(t)
  const add = (count: number): Promise<unknown> =>
    ledger.createSession({ account: account.id, hash: new Uint8Array(32).fill(count), browser: '', address: '' }, START)
  for (let count = 1; count < 100; count++) await add(count)
  assert.equal(await ask(), ANN)
  await add(100)
  assert.ok((await ledger.sessions(account.id)).every(({ id }) => id !== session.id))
})

test('requests at once record the use of a session once', async (t) => {
  const { clock, ledger, session, request, secret } = await world(t)
  let touched = 0
  const sessions = new SessionAuthenticator({
    ledger: {
      findSession: (hash) => ledger.findSession(hash),
      touchSession(id, now) {
        touched++
        return ledger.touchSession(id, now)
      },
    },
    ...{ origins: new OriginCheck(null), now: () => clock.now, monotonicMs: () => START },
    onFault: (fault) => assert.fail(String(fault)),
  })
  clock.now = START + 60
  for (let count = 0; count < 5; count++) await sessions.authenticateSession(request({}), { csrf: false })
  assert.equal(touched, 1)
  await ledger.clearAttempts([]) // follows the write
  const found = await ledger.findSession(createHash('sha256').update(secret).digest())
  assert.deepEqual([found?.session.id, found?.session.last_used], [session.id, START + 60])
})

test('a session that is ended, or whose account is suspended or deleted, is rejected within a second', async (t) => {
  for (const end of ['session', 'suspend', 'delete'] as const) {
    const { ask, clock, ledger, account, session } = await world(t)
    assert.equal(await ask(), ANN)
    if (end === 'session') await ledger.endSession(account.id, session.id)
    else if (end === 'suspend') await ledger.as(TESTER).suspendAccount(account.id, START)
    else await ledger.as(TESTER).deleteAccount(account.id)
    clock.now += 1
    assert.equal(await ask(), 'session_missing', end)
  }
})

test('the session of a request is found without a check of its origin, with its CSRF token', async (t) => {
  const { sessions, request, csrf, account } = await world(t)
  const found = await sessions.findSession(request({ origin: 'https://y.test' }))
  assert.equal(found?.csrf, csrf)
  assert.equal(found.caller.account.id, account.id)
  assert.equal(await sessions.findSession(request({}, 'a=b')), null)
})
