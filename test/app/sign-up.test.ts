/** New accounts and new passwords by mail, with a real SMTP server. */

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { PasswordHasher } from '../../src/api/auth/password-hasher.ts'
import { makeWorld, type Seen } from '../spec/world.ts'
import { TESTER } from '../tester.ts'
import { until } from '../until.ts'
import { openMailbox } from './mailbox.ts'
import { assertError } from './sessions.ts'

const PASSWORD = 'correct horse battery'
const mailbox = await openMailbox()
after(mailbox.close)
const world = await makeWorld()
const SITE = 'https://domains.test'
await world.serve(world.store, undefined, { smtp: mailbox.url, from: 'service@domains.test', publicUrl: SITE })
const { ledger } = world.store
const hash = await new PasswordHasher().hash(PASSWORD)
let accounts = 0

const newEmail = () => `new${accounts++}@example.com`
const post = (path: string, body: object): Promise<Seen> =>
  world.send(path, { method: 'POST', body: JSON.stringify(body) })
const mailTo = (email: string) => mailbox.received.filter(({ to }) => to.includes(email))
const nextMail = (email: string, count = 1) => until(() => mailTo(email)[count - 1], `message ${count}`)
const codeIn = (text: string, page: string) => new RegExp(`${SITE}/${page}#code=([\\w-]{43})\n`).exec(text)![1]!

async function member() {
  const { account } = await world.account()
  await ledger.as(TESTER).setPassword(account.id, hash, null, world.clock.now)
  return account
}

test('a new address gets a link, which creates the account and signs in', async () => {
  const email = newEmail()
  const seen = await post('/app/sign-up', { email: email.toUpperCase() })
  assert.deepEqual([seen.status, seen.text], [202, ''])
  assert.equal(await ledger.account(email), null, 'nothing exists before the address is verified')
  const { subject, text } = await nextMail(email)
  assert.equal(subject, 'Confirm your email address for domains.test')
  assert.match(text, /The link works once, until 2026-11-21 12:00:00 UTC\./)
  const code = codeIn(text, 'verify')
  const verified = await post('/app/verify', { code, password: PASSWORD })
  assert.deepEqual((verified.body as { account: object }).account, { email, role: 'user', plan: 'free' })
  assert.match(verified.headers.get('set-cookie')!, /^__Host-domaindex=[\w-]{43};/)
  assertError(await post('/app/verify', { code, password: PASSWORD }), 400, 'link_invalid')
  assert.equal((await post('/app/sign-in', { email, password: PASSWORD })).status, 200)
  assert.ok(mailbox.logins.includes('me:secret'))
})

test('the address of an account gets a hint, and its password stays', async () => {
  const { email } = await member()
  const seen = await post('/app/sign-up', { email })
  assert.deepEqual([seen.status, seen.text], [202, ''])
  const { subject, text } = await nextMail(email)
  assert.equal(subject, 'You have an account at domains.test')
  assert.doesNotMatch(text, /code=/)
  assert.equal((await post('/app/sign-in', { email, password: PASSWORD })).status, 200)
})

test('a password that is too weak does not use up the link', async () => {
  const email = newEmail()
  await post('/app/sign-up', { email })
  const code = codeIn((await nextMail(email)).text, 'verify')
  for (const body of [{ code, password: 'short' }, { code }])
    assert.equal(assertError(await post('/app/verify', body), 400, 'value_invalid').field, 'password')
  assert.equal((await post('/app/verify', { code, password: PASSWORD })).status, 200)
})

test('a stranger who signs up with an address does not know the password of its account', async () => {
  const email = newEmail()
  await post('/app/sign-up', { email, password: 'the password of a stranger' })
  const code = codeIn((await nextMail(email)).text, 'verify')
  await post('/app/verify', { code, password: PASSWORD })
  assertError(await post('/app/sign-in', { email, password: 'the password of a stranger' }), 401, 'sign_in_failed')
  assert.equal((await post('/app/sign-in', { email, password: PASSWORD })).status, 200)
})

test('sign-ups of strangers do not keep an owner from a new password', async () => {
  const { email } = await member()
  for (let count = 0; count < 4; count++) await post('/app/sign-up', { email })
  await nextMail(email, 3)
  await post('/app/password/forgot', { email })
  assert.match((await nextMail(email, 4)).subject, /^Set a new password/)
})

test('unknown keys of a sign-up change nothing: plan and role are those of a new account', async () => {
  const email = newEmail()
  await post('/app/sign-up', { email, plan: 'premium', role: 'admin', addons: ['export'] })
  const verified = await post('/app/verify', {
    ...{ code: codeIn((await nextMail(email)).text, 'verify'), password: PASSWORD, role: 'admin' },
  })
  assert.deepEqual((verified.body as { account: object }).account, { email, role: 'user', plan: 'free' })
  assert.deepEqual((await ledger.account(email))!.addons, [])
})

test('a forgotten password is replaced by a link, which ends every session', async () => {
  const { email } = await member()
  await post('/app/sign-in', { email, password: PASSWORD })
  assert.equal((await post('/app/password/forgot', { email })).status, 202)
  const { subject, text } = await nextMail(email)
  assert.equal(subject, 'Set a new password for domains.test')
  const code = codeIn(text, 'reset')
  const weak = await post('/app/password/reset', { code, password: 'short' })
  assert.equal(assertError(weak, 400, 'value_invalid').field, 'password', 'the link is not used up')
  const fresh = 'a new long password'
  assert.equal((await post('/app/password/reset', { code, password: fresh })).status, 200)
  assertError(await post('/app/password/reset', { code, password: fresh }), 400, 'link_invalid')
  assert.equal((await ledger.sessions((await ledger.account(email))!.id)).length, 1, 'only the new one')
  assertError(await post('/app/sign-in', { email, password: PASSWORD }), 401, 'sign_in_failed')
  assert.equal((await post('/app/sign-in', { email, password: fresh })).status, 200)
})

test('an unknown or suspended address gets the same answer, and no mail', async () => {
  const [known, suspended] = [await member(), await member()]
  await ledger.as(TESTER).suspendAccount(suspended.id, world.clock.now)
  const unknown = newEmail()
  const answers = [
    await post('/app/password/forgot', { email: unknown }),
    await post('/app/password/forgot', { email: suspended.email }),
    await post('/app/password/forgot', { email: known.email }),
  ]
  for (const { status, text } of answers) assert.deepEqual([status, text], [202, ''])
  await nextMail(known.email)
  assert.deepEqual([...mailTo(unknown), ...mailTo(suspended.email)], [])
})

test('links are valid for their time and kind', async () => {
  const { email } = await member()
  await post('/app/password/forgot', { email })
  const code = codeIn((await nextMail(email)).text, 'reset')
  assertError(await post('/app/verify', { code, password: PASSWORD }), 400, 'link_invalid')
  assertError(await post('/app/sign-in/link', { code }), 400, 'link_invalid')
  world.clock.now += 3_600
  assertError(await post('/app/password/reset', { code, password: 'a new long password' }), 400, 'link_invalid')
})

test('an address gets at most three messages an hour, with the same answer', async () => {
  const { email } = await member()
  for (let count = 1; count <= 3; count++) {
    await post('/app/password/forgot', { email })
    await nextMail(email, count)
  }
  assert.equal((await post('/app/password/forgot', { email })).status, 202)
  const other = await member()
  await post('/app/password/forgot', { email: other.email })
  await nextMail(other.email)
  assert.equal(mailTo(email).length, 3)
  world.clock.now += 3_600
  await post('/app/password/forgot', { email })
  await nextMail(email, 4)
})

test('the page learns whether people can sign up; without mail nobody can', async () => {
  const { signUp } = (await world.send('/app/session', {})).body as { signUp: boolean }
  assert.equal(signUp, true)
  const closed = await makeWorld()
  assert.equal(((await closed.send('/app/session', {})).body as { signUp: boolean }).signUp, false)
  for (const [path, body] of [
    ['/app/sign-up', { email: 'a@example.com' }],
    ['/app/password/forgot', { email: 'a@example.com' }],
  ] as const)
    assertError(await closed.send(path, { method: 'POST', body: JSON.stringify(body) }), 503, 'mail_unavailable')
})
