/** OWASP API2:2023, broken authentication: guesses are limited for each client, and no stranger locks out an owner. */

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { countLinkUse, countMail, countSignIn, forgetSignIn } from '../../src/api/auth/attempt-limits.ts'
import { PasswordHasher } from '../../src/api/auth/password-hasher.ts'
import { ApiError } from '../../src/api/http/errors.ts'
import { assertError } from '../app/sessions.ts'
import { makeWorld } from '../spec/world.ts'
import { membersOf, PASSWORD } from './members.ts'

const EMAIL = 'ann@example.com'

/** A world of its own, because the counts of a client are shared. */
async function ownWorld() {
  const world = await makeWorld()
  return { world, ...membersOf(world), ledger: world.store.ledger }
}

/** The milliseconds of delay of an attempt, or the seconds until a refused one may be repeated. */
async function outcome(attempt: Promise<unknown>): Promise<unknown> {
  try {
    return await attempt
  } catch (error) {
    assert.ok(error instanceof ApiError)
    assert.equal(error.key, 'too_many_attempts')
    return 'refused'
  }
}

/** Repeats an attempt and returns the number of those that were not refused. */
async function allowed(count: number, attempt: (index: number) => Promise<unknown>): Promise<number> {
  let passed = 0
  for (let index = 0; index < count; index++) if ((await outcome(attempt(index))) !== 'refused') passed++
  return passed
}

const { world: shared } = await ownWorld()
const { ledger } = shared.store
const { now } = shared.clock

test('a client has ten guesses at an account, and fifty at all', async () => {
  assert.equal(await allowed(20, () => countSignIn(ledger, { client: '192.0.2.1', email: EMAIL }, now)), 10)
  const spray = (index: number) => countSignIn(ledger, { client: '192.0.2.2', email: `a${index}@example.com` }, now)
  assert.equal(await allowed(60, spray), 50)
})

test('the addresses of one IPv6 subscriber are one client', async () => {
  const guess = (index: number) =>
    countSignIn(ledger, { client: `2001:db8:0:1::${index}`, email: 'v6@example.com' }, now)
  assert.equal(await allowed(20, guess), 10)
  const other = { client: '2001:db8:0:2::1', email: 'v6@example.com' }
  assert.equal(await outcome(countSignIn(ledger, other, now)), 0)
})

test('guesses of many clients slow an account down and never lock it', async () => {
  const email = 'target@example.com'
  for (let client = 1; client <= 50; client++)
    assert.equal(await outcome(countSignIn(ledger, { client: `198.51.100.${client}`, email }, now)), 0)
  for (let client = 1; client <= 100; client++)
    assert.equal(await outcome(countSignIn(ledger, { client: `203.0.113.${client}`, email }, now)), 2_000)
})

test('a success forgets the guesses at its account, not those at other accounts', async () => {
  const attempt = { client: '192.0.2.5', email: 'own@example.com' }
  assert.equal(await allowed(9, () => countSignIn(ledger, attempt, now)), 9)
  await forgetSignIn(ledger, attempt)
  assert.equal(await allowed(20, () => countSignIn(ledger, attempt, now)), 10)
  const spray = (index: number) => countSignIn(ledger, { ...attempt, email: `b${index}@example.com` }, now)
  assert.ok((await allowed(60, spray)) < 50, 'an account of their own gives nobody more guesses')
})

test('the limits end after their time', async () => {
  const attempt = { client: '192.0.2.6', email: 'later@example.com' }
  assert.equal(await allowed(11, () => countSignIn(ledger, attempt, now)), 10)
  assert.equal(await outcome(countSignIn(ledger, attempt, now + 899)), 'refused')
  assert.equal(await outcome(countSignIn(ledger, attempt, now + 900)), 0)
})

test('links and mail are limited for each client, and mail for each address', async () => {
  assert.equal(await allowed(60, () => countLinkUse(ledger, '192.0.2.7', now)), 50)
  const mail = (index: number) =>
    countMail(ledger, 'password', { client: '192.0.2.7', email: `m${index}@example.com` }, now)
  assert.equal(await allowed(30, mail), 20)
  const sent: boolean[] = []
  for (let client = 0; client < 5; client++)
    sent.push(await countMail(ledger, 'password', { client: `192.0.2.${100 + client}`, email: 'box@example.com' }, now))
  assert.deepEqual(sent, [true, true, true, false, false])
})

test('a client that is refused adds nothing to the store for further addresses', async () => {
  const client = '192.0.2.8'
  const emails = Array.from({ length: 70 }, (_, index) => `made-up${index}@example.com`)
  for (const email of emails) await outcome(countSignIn(ledger, { client, email }, now))
  for (const email of emails) await outcome(countMail(ledger, 'password', { client, email }, now))
  const counts = await ledger.attempts(
    emails.flatMap((email) => [`sign-in ${email}`, `sign-in ${email} ${client}`, `mail password ${email}`]),
    now,
  )
  assert.equal(counts.filter((count) => count > 0).length, 50 + 50 + 20)
})

test('many guesses at once are limited like those one after another', async () => {
  const { member, signIn } = await ownWorld()
  const { email } = await member()
  const answers = await Promise.all(Array.from({ length: 30 }, () => signIn(email, 'guess')))
  const count = (wanted: number) => answers.filter(({ status }) => status === wanted).length
  assert.deepEqual([count(401), count(429)], [10, 20])
})

test('no header of a client that is no trusted proxy gives it more guesses', async () => {
  const { member, signIn } = await ownWorld()
  const { email } = await member()
  for (let guess = 0; guess < 12; guess++) {
    const from = `192.0.2.${guess}`
    const seen = await signIn(email, 'guess', { 'X-Forwarded-For': from, Forwarded: `for=${from}`, 'X-Real-IP': from })
    assertError(seen, guess < 10 ? 401 : 429, guess < 10 ? 'sign_in_failed' : 'too_many_attempts')
  }
})

test('other spellings of an address are the same account', async () => {
  const { member, signIn } = await ownWorld()
  const { email } = await member()
  const spellings = [email, email.toUpperCase(), ` ${email}`, `${email} `, email.replace('user', 'User')]
  const statuses: number[] = []
  for (let guess = 0; guess < 20; guess++) {
    const { status } = await signIn(spellings[guess % spellings.length]!, 'guess')
    if (status !== 400) statuses.push(status)
  }
  assert.equal(statuses.filter((status) => status === 401).length, 10)
})

test('the current password cannot be guessed in a session', async () => {
  const { member, signIn, browser } = await ownWorld()
  const { email } = await member()
  const { send } = browser(await signIn(email))
  const guess = () => send('/app/password', 'POST', { current: 'guess', password: 'a new long password' })
  for (let count = 0; count < 10; count++) assert.equal((await guess()).status, 400)
  assertError(await guess(), 429, 'too_many_attempts')
  const right = await send('/app/password', 'POST', { current: PASSWORD, password: 'a new long password' })
  assertError(right, 429, 'too_many_attempts')
})

test('a refused client causes no hash', async (t: TestContext) => {
  const { post, ledger: own, world } = await ownWorld()
  const limits = [
    () => countLinkUse(own, '127.0.0.1', world.clock.now),
    (index: number) => countSignIn(own, { client: '127.0.0.1', email: `c${index}@example.com` }, world.clock.now),
  ]
  for (const limit of limits) assert.equal(await allowed(51, limit), 50)
  const hashed = [t.mock.method(PasswordHasher.prototype, 'hash'), t.mock.method(PasswordHasher.prototype, 'verify')]
  const body = { code: 'A'.repeat(43), email: EMAIL, password: PASSWORD }
  for (const path of ['/app/sign-in', '/app/password/reset', '/app/setup', '/app/sign-in/link', '/app/verify'])
    assertError(await post(path, body), 429, 'too_many_attempts')
  assert.deepEqual(
    hashed.map(({ mock }) => mock.callCount()),
    [0, 0],
  )
})
