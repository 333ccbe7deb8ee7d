/** Many clients at one account: they guess no faster than one, and neither strangers nor the owner are locked out. */

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { hashSecret } from '../../src/accounts/session.ts'
import { PasswordHasher } from '../../src/api/auth/password-hasher.ts'
import { csrfToken, SESSION_COOKIE } from '../../src/api/auth/session-authenticator.ts'
import { createSignInLink } from '../../src/api/auth/sign-in-link.ts'
import { createWorldApi } from '../api/world-api.ts'
import { makeWorld } from '../spec/world.ts'
import { TESTER } from '../tester.ts'

const PASSWORD = 'charts of the old harbour'
const world = await makeWorld()
const { ledger } = world.store
const hash = await new PasswordHasher().hash(PASSWORD)

async function member(): Promise<{ id: number; email: string }> {
  const { account } = await world.account()
  await ledger.as(TESTER).setPassword(account.id, hash, null, world.clock.now)
  return account
}

/** A server behind a proxy that names each client. */
async function serve(t: TestContext) {
  const { app } = await createWorldApi(world, {
    settings: { cors: [], trustedProxies: ['127.0.0.0/8'] },
    page: world.page,
  })
  t.after(() => app.close())
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  return async (path: string, client: string, body: object, session: Record<string, string> = {}) => {
    const headers = { 'X-Forwarded-For': client, 'Content-Type': 'application/json', ...session }
    const response = await fetch(`${url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
    await response.text()
    return { status: response.status, retryAfter: response.headers.get('retry-after') }
  }
}

const countOf = (statuses: { status: number }[], status: number) =>
  statuses.filter((each) => each.status === status).length

test('120 clients of one /48 guess 40 times in 15 minutes, and the others get a 429', async (t) => {
  const send = await serve(t)
  const { email } = await member()
  const answers: { status: number; retryAfter: string | null }[] = []
  for (let client = 0; client < 120; client++)
    answers.push(await send('/app/sign-in', `2001:db8:5:${client.toString(16)}::1`, { email, password: 'guess' }))
  assert.deepEqual([countOf(answers, 401), countOf(answers, 429)], [40, 80])
  assert.equal(answers.at(-1)!.retryAfter, '900')
})

test('120 clients at once wait for one another, or get a 429; others sign in meanwhile', async (t) => {
  const send = await serve(t)
  const [{ email }, other] = [await member(), await member()]
  const tries = Array.from({ length: 120 }, (_, client) =>
    send('/app/sign-in', `198.51.100.${client + 1}`, { email, password: 'guess' }),
  )
  const honest = send('/app/sign-in', '192.0.2.77', { email: other.email, password: PASSWORD })
  const answers = await Promise.all(tries)
  assert.equal((await honest).status, 200)
  assert.ok(countOf(answers, 401) >= 10)
  assert.equal(countOf(answers, 401) + countOf(answers, 429), 120)
  for (const { status, retryAfter } of answers) if (status === 429) assert.equal(retryAfter, '2')
})

test('a client at its limit keeps nobody else from the account', async (t) => {
  const send = await serve(t)
  const { email } = await member()
  const guess = () => send('/app/sign-in', '203.0.113.66', { email, password: 'guess' })
  for (let attempt = 0; attempt < 10; attempt++) assert.equal((await guess()).status, 401)
  for (let round = 0; round < 3; round++) {
    const attack = Promise.all(Array.from({ length: 60 }, guess))
    const honest = await send('/app/sign-in', `192.0.2.${round + 1}`, { email, password: PASSWORD })
    assert.equal(honest.status, 200)
    assert.equal(countOf(await attack, 429), 60)
  }
})

test('above 300 attempts an hour only a client with an open session may go on, and a link signs in', async (t) => {
  const send = await serve(t)
  const { id, email } = await member()
  const secret = 'A'.repeat(43)
  await ledger.createSession(
    { account: id, browser: 'x', address: '192.0.2.50', hash: hashSecret(secret)! },
    world.clock.now,
  )
  for (let attempt = 0; attempt < 300; attempt++)
    await ledger.countAttempt([{ key: `sign-in ${email}`, seconds: 3_600 }], world.clock.now)
  const right = { email, password: PASSWORD }
  assert.deepEqual(await send('/app/sign-in', '203.0.113.9', right), { status: 429, retryAfter: '3600' })
  assert.equal((await send('/app/sign-in', '192.0.2.50', right)).status, 200)
  const link = await createSignInLink(ledger, id, 'http://x.test', world.clock.now)
  const code = new URL(link).hash.replace('#code=', '')
  assert.equal((await send('/app/sign-in/link', '203.0.113.9', { code })).status, 200)
})

test('one session that many clients use guesses the current password 10 times, and locks out no sign-in', async (t) => {
  const send = await serve(t)
  const { id, email } = await member()
  const secret = 'B'.repeat(43)
  await ledger.createSession(
    { account: id, browser: 'x', address: '192.0.2.60', hash: hashSecret(secret)! },
    world.clock.now,
  )
  const session = { Cookie: `${SESSION_COOKIE}=${secret}`, 'X-CSRF-Token': csrfToken(secret) }
  const change = (client: string, current: string) =>
    send('/app/password', client, { current, password: 'a new long password' }, session)
  const guesses = await Promise.all(
    Array.from({ length: 60 }, (_, client) => change(`203.0.113.${client + 1}`, 'guess')),
  )
  assert.deepEqual([countOf(guesses, 400), countOf(guesses, 429)], [10, 50])
  assert.deepEqual(await change('192.0.2.61', PASSWORD), { status: 429, retryAfter: '900' })
  assert.deepEqual(await ledger.attempts([`sign-in ${email}`], world.clock.now), [0])
  world.clock.now += 900
  assert.equal((await change('192.0.2.61', PASSWORD)).status, 200)
})
