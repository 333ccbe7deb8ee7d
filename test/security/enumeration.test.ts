/** Enumeration of accounts: the answers, their headers and the work for them are the same for known and unknown. */

import assert from 'node:assert/strict'
import { after, before, type Mock, mock, test } from 'node:test'
import { PasswordHasher } from '../../src/api/auth/password-hasher.ts'
import { createSignInLink } from '../../src/api/auth/sign-in-link.ts'
import { Mailer } from '../../src/api/context/mailer.ts'
import { openMailbox } from '../app/mailbox.ts'
import { assertError } from '../app/sessions.ts'
import { makeWorld, type Seen } from '../spec/world.ts'
import { TESTER } from '../tester.ts'
import { until } from '../until.ts'
import { membersOf, PASSWORD } from './members.ts'

const SITE = 'https://domains.test'
const mailbox = await openMailbox()
after(mailbox.close)
const world = await makeWorld()
const { ledger } = world.store
const { member, signIn, post } = membersOf(world)
let strangers = 0

/** The calls that hash or compare, with the hasher of each. */
const hashing: Mock<PasswordHasher['hash'] | PasswordHasher['verify']>[] = []

before(async () => {
  await world.serve(world.store, undefined, { smtp: mailbox.url, from: 'service@domains.test', publicUrl: SITE })
  hashing.push(mock.method(PasswordHasher.prototype, 'hash'), mock.method(PasswordHasher.prototype, 'verify'))
})
after(() => mock.restoreAll())

const stranger = () => `stranger${strangers++}@example.com`

/** The newest message to an address. */
const mailTo = (email: string) => until(() => mailbox.received.findLast(({ to }) => to.includes(email)))

/** How many hashes the server has computed. */
function computed(): number {
  const hashers = new Set(hashing.flatMap(({ mock: { calls } }) => calls.map((call) => call.this as PasswordHasher)))
  return [...hashers].reduce((sum, hasher) => sum + hasher.computed, 0)
}

/** All that a client sees of a response, without its time, its number and what concerns the connection. */
function visible({ status, headers, text }: Seen): object {
  const kept = [...headers].filter(([name]) => !['date', 'request-id', 'connection', 'keep-alive'].includes(name))
  return { status, text, headers: Object.fromEntries(kept) }
}

/** Asserts that the addresses look the same to a request, which computes this number of hashes. */
async function assertAlike(ask: (email: string) => Promise<Seen>, emails: string[], hashes: number): Promise<void> {
  let first: object | null = null
  for (const email of emails) {
    const start = computed()
    const seen = visible(await ask(email))
    assert.equal(computed() - start, hashes, `hashes for ${email}`)
    first ??= seen
    assert.deepEqual(seen, first, email)
  }
}

/** An account of each kind, and an unknown address. */
async function everyKind(): Promise<string[]> {
  const [known, operator, suspended, bare] = [await member(), await member(), await member(), await world.account()]
  await ledger.as(TESTER).setRole(operator.id, 'admin')
  await ledger.as(TESTER).suspendAccount(suspended.id, world.clock.now)
  return [stranger(), known.email, operator.email, suspended.email, bare.account.email]
}

test('a failed sign-in is the same for every kind of address, and compares one hash', async () => {
  await assertAlike((email) => signIn(email, 'wrong horse battery'), await everyKind(), 1)
})

test('the right password of a suspended account is as wrong as any', async () => {
  const suspended = await member()
  await ledger.as(TESTER).suspendAccount(suspended.id, world.clock.now)
  await assertAlike((email) => signIn(email), [stranger(), suspended.email], 1)
})

test('a sign-up is the same for every kind of address, and computes no hash', async () => {
  await assertAlike((email) => post('/app/sign-up', { email }), await everyKind(), 0)
})

test('a forgotten password is the same for every kind of address, and computes no hash', async () => {
  await assertAlike((email) => post('/app/password/forgot', { email }), await everyKind(), 0)
})

test('the answer to a sign-up does not wait for the mail', async () => {
  const email = stranger()
  const never = mock.method(Mailer.prototype, 'send', () => new Promise<void>(() => {}))
  assert.equal((await post('/app/sign-up', { email })).status, 202)
  await until(() => never.mock.calls.some((call) => call.arguments[0]?.to === email), 'the message')
  never.mock.restore()
})

test('an address whose limit of mail is reached looks the same', async () => {
  const { email } = await member()
  for (const path of ['/app/password/forgot', '/app/sign-up']) {
    world.clock.now += 3_600 // the client of the test has its whole limit
    const answers: Seen[] = []
    for (let count = 0; count < 5; count++) answers.push(await post(path, { email }))
    for (const seen of answers) assert.deepEqual(visible(seen), visible(answers[0]!))
    assert.equal(answers[0]!.status, 202)
  }
  world.clock.now += 3_600
})

test('a link of another kind, a used one and an unknown one look the same', async () => {
  const { email, id } = await member()
  await post('/app/password/forgot', { email })
  const { text } = await mailTo(email)
  const code = /#code=([\w-]{43})/.exec(text)![1]!
  const body = { password: 'a new long password' }
  assert.equal((await post('/app/password/reset', { ...body, code })).status, 200)
  const other = (await createSignInLink(ledger, id, SITE, world.clock.now)).split('#code=')[1]!
  const codes = ['A'.repeat(43), 'x', code, other]
  const answers = await Promise.all(codes.map((each) => post('/app/password/reset', { ...body, code: each })))
  for (const seen of answers) {
    assertError(seen, 400, 'link_invalid')
    assert.deepEqual(visible(seen), visible(answers[0]!))
  }
})

test('links in mail have the address of the settings, whatever host the request names', async () => {
  const { email } = await member()
  const headers = {
    'X-Forwarded-Host': 'evil.example',
    Forwarded: 'host=evil.example',
    Referer: 'https://evil.example/',
  }
  await post('/app/password/forgot', { email }, headers)
  const { text } = await mailTo(email)
  assert.match(text, /^https:\/\/domains\.test\/reset#code=/m)
  assert.doesNotMatch(text, /evil/)
})

test('an address cannot add a recipient or a header to a message', async () => {
  const before = mailbox.received.length
  for (const email of [
    'a@example.com\r\nBcc: b@example.com',
    'a@example.com\nSubject: x',
    'a@example.com, b@example.com',
    'A <a@example.com>',
    'a@example.com\u0000',
  ])
    for (const path of ['/app/sign-up', '/app/password/forgot'])
      assert.equal(assertError(await post(path, { email, password: PASSWORD }), 400, 'value_invalid').field, 'email')
  assert.equal(mailbox.received.slice(before).filter(({ to }) => to.includes('b@example.com')).length, 0)
})
