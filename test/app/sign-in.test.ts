/** Signing in and out, own sessions, the password of an account, and the first operator, through HTTP. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Account } from '../../src/accounts/account.ts'
import { SESSION_IDLE_SECONDS } from '../../src/accounts/session.ts'
import { PasswordHasher } from '../../src/api/auth/password-hasher.ts'
import { createSignInLink, SIGN_IN_LINK_SECONDS } from '../../src/api/auth/sign-in-link.ts'
import { makeWorld, type Seen } from '../spec/world.ts'
import { TESTER } from '../tester.ts'
import { assertError, visit } from './sessions.ts'

type SessionBody = { account: { email: string; role: string; plan: string } | null; csrf: string | null }
type OwnSession = { id: number; browser: string; address: string; current: boolean; expires: string }

const PASSWORD = 'correct horse battery'
const world = await makeWorld()
const { ledger } = world.store
const hash = await new PasswordHasher().hash(PASSWORD)

/** An account with the password, and its session if it signs in. */
async function member(wanted: Parameters<typeof world.account>[0] = {}) {
  const { account } = await world.account(wanted)
  await ledger.as(TESTER).setPassword(account.id, hash, null, world.clock.now)
  return account
}

const post = (path: string, body: object, headers: Record<string, string> = {}): Promise<Seen> =>
  world.send(path, { method: 'POST', headers, body: JSON.stringify(body) })
const signIn = (email: string, password: string, headers: Record<string, string> = {}): Promise<Seen> =>
  post('/app/sign-in', { email, password }, headers)

/** The cookie that a response sets, as the browser sends it back. */
function cookieOf({ headers }: Seen): string {
  return headers.get('set-cookie')!.split(';')[0]!
}

/** Sends requests with the cookie and the CSRF token of a sign-in. */
function as(signedIn: Seen) {
  const headers = { Cookie: cookieOf(signedIn), 'X-CSRF-Token': (signedIn.body as SessionBody).csrf! }
  return (path: string, method = 'GET', body?: object): Promise<Seen> =>
    world.send(path, { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) })
}

const accountOf = async (request: ReturnType<typeof as>) =>
  ((await request('/app/session')).body as SessionBody).account

test('a right password gives a session: a cookie for this host alone, which no script can read', async () => {
  const { email } = await member({ plan: 'basic' })
  const seen = await signIn(email.toUpperCase(), PASSWORD, { 'User-Agent': 'Mozilla/5.0 (X11; Linux) Firefox/145.0' })
  assert.equal(seen.status, 200, seen.text)
  const { account, csrf } = seen.body as SessionBody
  assert.deepEqual(account, { email, role: 'user', plan: 'basic' })
  assert.match(
    seen.headers.get('set-cookie')!,
    /^__Host-domaindex=[\w-]{43}; Path=\/; Secure; HttpOnly; SameSite=Lax; Max-Age=2592000$/,
  )
  assert.equal(seen.headers.get('cache-control'), 'private, no-store')
  assert.equal(seen.headers.get('access-control-allow-origin'), null)
  const request = as(seen)
  assert.deepEqual((await request('/app/session')).body, { ...(seen.body as object), csrf })
  const { sessions } = (await request('/app/sessions')).body as { sessions: OwnSession[] }
  assert.deepEqual(
    sessions.map(({ browser, address, current }) => ({ browser, address, current })),
    [{ browser: 'Firefox on Linux', address: '127.0.0.1', current: true }],
  )
})

test('without a session, the page learns that there is none', async () => {
  const seen = await world.send('/app/session', {})
  const { account, csrf, version } = seen.body as SessionBody & { version: string }
  assert.deepEqual([seen.status, account, csrf], [200, null, null])
  assert.match(version, /^\d+\.\d+\.\d+/)
})

test('unknown address, wrong password, no password and suspension get the same answer', async () => {
  const [known, bare, suspended] = [await member(), (await world.account()).account, await member()]
  await ledger.as(TESTER).suspendAccount(suspended.id, world.clock.now)
  const answers = [
    await signIn('nobody@example.com', PASSWORD),
    await signIn(known.email, 'wrong horse battery'),
    await signIn(bare.email, PASSWORD),
    await signIn(suspended.email, PASSWORD),
  ]
  for (const seen of answers) {
    assertError(seen, 401, 'sign_in_failed')
    assert.equal(seen.text, answers[0]!.text)
    assert.equal(seen.headers.get('set-cookie'), null)
  }
})

test('a value that is missing or no text is named', async () => {
  for (const [body, field] of [
    [{ password: PASSWORD }, 'email'],
    [{ email: 'ann@example.com' }, 'password'],
    [{ email: ['ann@example.com'], password: PASSWORD }, 'email'],
    [{ email: 'ann', password: PASSWORD }, 'email'],
    [{ email: 'ann@example.com', password: 'x'.repeat(5_000) }, 'password'],
  ] as const)
    assert.equal(assertError(await post('/app/sign-in', body), 400, 'value_invalid').field, field)
})

test('a sign-in replaces the session of the request, so that nobody can plant one', async () => {
  const [mallory, victim] = [await member(), await member()]
  const planted = await signIn(mallory.email, PASSWORD)
  const seen = await signIn(victim.email, PASSWORD, { Cookie: cookieOf(planted) })
  assert.notEqual(cookieOf(seen), cookieOf(planted))
  assert.equal((await accountOf(as(seen)))?.email, victim.email)
  world.clock.ticks += 1_000
  assert.equal(await accountOf(as(planted)), null)
})

test('a page of another site cannot sign in, out or change anything', async () => {
  const { email } = await member()
  for (const headers of [{ Origin: 'https://evil.example' }, { 'Sec-Fetch-Site': 'cross-site' }, { Origin: 'null' }])
    assertError(await signIn(email, PASSWORD, headers), 403, 'origin_refused')
  const seen = await signIn(email, PASSWORD, { Origin: world.address, 'Sec-Fetch-Site': 'same-origin' })
  assert.equal(seen.status, 200)
  const headers = { Cookie: cookieOf(seen) }
  for (const [method, path] of [
    ['POST', '/app/sign-out'],
    ['POST', '/app/password'],
    ['DELETE', '/app/sessions'],
    ['DELETE', '/app/sessions/1'],
  ] as const)
    assertError(await world.send(path, { method, headers }), 403, 'origin_refused')
  assert.equal((await accountOf(as(seen)))?.email, email)
})

test('signing out ends the session and removes the cookie', async () => {
  const { email } = await member()
  const seen = await signIn(email, PASSWORD)
  const out = await as(seen)('/app/sign-out', 'POST')
  assert.equal(out.status, 204)
  assert.match(out.headers.get('set-cookie')!, /^__Host-domaindex=; .*Max-Age=0$/)
  world.clock.ticks += 1_000
  assertError(await as(seen)('/app/sessions'), 401, 'session_missing')
})

test('sessions are listed newest first, and end one by one or all others at once', async () => {
  const account = await member()
  const [first, second, third] = [
    await signIn(account.email, PASSWORD),
    await signIn(account.email, PASSWORD),
    await signIn(account.email, PASSWORD),
  ]
  const list = async () => ((await as(third!)('/app/sessions')).body as { sessions: OwnSession[] }).sessions
  const listed = await list()
  assert.deepEqual(
    listed.map(({ current }) => current),
    [true, false, false],
  )
  assert.equal((await as(third!)(`/app/sessions/${listed[2]!.id}`, 'DELETE')).status, 204)
  assertError(await as(third!)(`/app/sessions/${listed[2]!.id}`, 'DELETE'), 404, 'not_found')
  world.clock.ticks += 1_000
  assert.equal(await accountOf(as(first!)), null)
  assert.equal((await accountOf(as(second!)))?.email, account.email)
  assert.equal((await as(third!)('/app/sessions', 'DELETE')).status, 204)
  world.clock.ticks += 1_000
  assert.equal(await accountOf(as(second!)), null)
  assert.equal((await list()).length, 1)
})

test('an account cannot see or end the sessions of another one', async () => {
  const [ann, bob] = [await member(), await member()]
  const [annIn, bobIn] = [await signIn(ann.email, PASSWORD), await signIn(bob.email, PASSWORD)]
  const { sessions } = (await as(bobIn)('/app/sessions')).body as { sessions: OwnSession[] }
  assertError(await as(annIn)(`/app/sessions/${sessions[0]!.id}`, 'DELETE'), 404, 'not_found')
  assert.equal((await accountOf(as(bobIn)))?.email, bob.email)
})

test('sessions that have ended are not listed', async () => {
  const account = await member()
  const own = await visit(world, account)
  const { now } = world.clock
  world.clock.now = now - SESSION_IDLE_SECONDS
  await visit(world, account)
  world.clock.now = now
  assert.equal((await own.read<{ sessions: OwnSession[] }>('/app/sessions')).sessions.length, 1)
})

test('a new password needs the current one, ends every session and gives this browser a new one', async () => {
  const account = await member()
  const [here, elsewhere] = [await signIn(account.email, PASSWORD), await signIn(account.email, PASSWORD)]
  const change = (body: object) => as(here)('/app/password', 'POST', body)
  const fresh = 'a new long password'
  assert.equal(assertError(await change({ current: 'wrong', password: fresh }), 400, 'value_invalid').field, 'current')
  assert.equal(assertError(await change({ password: fresh }), 400, 'value_invalid').field, 'current')
  const weak = assertError(await change({ current: PASSWORD, password: 'short' }), 400, 'value_invalid')
  assert.equal(weak.field, 'password')
  const changed = await change({ current: PASSWORD, password: fresh })
  assert.equal(changed.status, 200, changed.text)
  world.clock.ticks += 1_000
  for (const former of [here, elsewhere]) assert.equal(await accountOf(as(former)), null)
  assert.equal((await accountOf(as(changed)))?.email, account.email)
  assertError(await signIn(account.email, PASSWORD), 401, 'sign_in_failed')
  assert.equal((await signIn(account.email, fresh)).status, 200)
})

test('a one-time link signs in once, within its time', async () => {
  const { account } = await world.account()
  const make = () => createSignInLink(ledger, account.id, 'http://x.test', world.clock.now)
  const codeOf = (link: string) => ({ code: /^http:\/\/x\.test\/sign-in#code=([\w-]{43})$/.exec(link)![1]! })
  const first = codeOf(await make())
  const seen = await post('/app/sign-in/link', first)
  assert.equal((await accountOf(as(seen)))?.email, account.email)
  assertError(await post('/app/sign-in/link', first), 400, 'link_invalid')
  const late = codeOf(await make())
  world.clock.now += SIGN_IN_LINK_SECONDS
  assertError(await post('/app/sign-in/link', late), 400, 'link_invalid')
  assertError(await post('/app/sign-in/link', { code: 'x' }), 400, 'link_invalid')
  const password = 'a first long password'
  const set = await as(seen)('/app/password', 'POST', { password })
  assert.equal(set.status, 200, 'an account without a password sets its first one')
  assert.equal((await signIn(account.email, password)).status, 200)
})

test('a setup link creates the first operator, and only the first', async () => {
  const own = await makeWorld()
  const codeOf = (link: string) => /#code=(.*)$/.exec(link)![1]!
  const link = await createSignInLink(own.store.ledger, null, 'http://x.test', own.clock.now)
  assert.match(link, /^http:\/\/x\.test\/setup#code=/)
  const send = (body: object) =>
    own.send('/app/setup', { method: 'POST', headers: {}, body: JSON.stringify({ code: codeOf(link), ...body }) })
  const weak = assertError(await send({ email: 'me@example.com', password: 'short' }), 400, 'value_invalid')
  assert.equal(weak.field, 'password')
  const made = await send({ email: 'me@example.com', password: PASSWORD })
  assert.deepEqual((made.body as SessionBody).account, { email: 'me@example.com', role: 'admin', plan: 'local' })
  const again = codeOf(await createSignInLink(own.store.ledger, null, 'http://x.test', own.clock.now))
  assertError(await send({ code: again, email: 'you@example.com', password: PASSWORD }), 400, 'link_invalid')
  assert.equal(await own.store.ledger.account('you@example.com'), null)
})

test('guesses of one client at one account are limited, and the owner signs in from elsewhere', async () => {
  const account: Account = await member()
  for (let guess = 0; guess < 10; guess++) assertError(await signIn(account.email, 'guess'), 401, 'sign_in_failed')
  const refused = await signIn(account.email, PASSWORD)
  assertError(refused, 429, 'too_many_attempts')
  assert.equal(refused.headers.get('retry-after'), '900')
  const others = await ledger.attempts([`sign-in ${account.email} 192.0.2.9`], world.clock.now)
  assert.deepEqual(others, [0], 'another client has its own count')
  world.clock.now += 900
  assert.equal((await signIn(account.email, PASSWORD)).status, 200)
  assert.equal((await signIn(account.email, 'guess')).status, 401, 'a success starts a new count')
})
