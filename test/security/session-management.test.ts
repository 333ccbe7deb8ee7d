/** OWASP ASVS 5, chapter 7: sessions are not planted, end when they must, and are readable nowhere. */

import assert from 'node:assert/strict'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { SESSION_IDLE_SECONDS, SESSION_MAX_SECONDS } from '../../src/accounts/session.ts'
import { createSignInLink } from '../../src/api/auth/sign-in-link.ts'
import { assertError } from '../app/sessions.ts'
import { makeWorld } from '../spec/world.ts'
import { TESTER } from '../tester.ts'
import { membersOf, PASSWORD } from './members.ts'

const world = await makeWorld()
const { ledger } = world.store
const { member, signIn, browser, accountOf, post } = membersOf(world)

/** Restores the clock after a test that moves it. */
function keepClock(t: TestContext): void {
  const { now } = world.clock
  t.after(() => {
    world.clock.now = now
  })
}

test('nobody has a session before signing in, and no chosen one becomes valid', async () => {
  const { email } = await member()
  const chosen = `__Host-domaindex=${'A'.repeat(43)}`
  const before = await world.send('/app/session', { headers: { Cookie: chosen } })
  assert.equal(before.headers.get('set-cookie'), null)
  const { cookie } = browser(await signIn(email, PASSWORD, { Cookie: chosen }))
  assert.notEqual(cookie, chosen)
  assert.deepEqual([await accountOf(chosen), await accountOf(cookie)], [null, email])
})

test('a failed sign-in neither starts a session nor ends the one of the browser', async () => {
  const { email } = await member()
  const { cookie } = browser(await signIn(email))
  const failed = await signIn(email, 'wrong horse battery', { Cookie: cookie })
  assert.deepEqual([failed.status, failed.headers.get('set-cookie')], [401, null])
  assert.equal(await accountOf(cookie), email)
})

test('each way to sign in gives a new session and ends the one of the browser', async () => {
  const account = await member()
  const codeOf = (link: string) => link.split('#code=')[1]!
  const link = codeOf(await createSignInLink(ledger, account.id, 'http://x.test', world.clock.now))
  let { cookie } = browser(await signIn(account.email))
  const ways = [
    () => signIn(account.email, PASSWORD, { Cookie: cookie }),
    () => post('/app/sign-in/link', { code: link }, { Cookie: cookie }),
  ]
  for (const way of ways) {
    const seen = await way()
    const former = cookie
    cookie = browser(seen).cookie
    assert.deepEqual([await accountOf(former), await accountOf(cookie)], [null, account.email])
  }
  assert.equal((await ledger.sessions(account.id)).length, 1)
})

test('the cookie is for this host, by TLS, for no script, and lasts no longer than a session', async () => {
  const { email } = await member()
  const seen = await signIn(email)
  const [pair = '', ...attributes] = seen.headers.get('set-cookie')!.split('; ')
  assert.match(pair, /^__Host-domaindex=[\w-]{43}$/)
  assert.deepEqual(attributes.toSorted(), [
    'HttpOnly',
    `Max-Age=${SESSION_MAX_SECONDS}`,
    'Path=/',
    'SameSite=Lax',
    'Secure',
  ])
  assert.ok(!seen.text.includes(pair.split('=')[1]!), 'no script learns the secret')
})

test('a session is no token, and it is taken from the cookie alone', async () => {
  const { email } = await member({ plan: 'local' })
  const secret = browser(await signIn(email)).cookie.split('=')[1]!
  const bearer = { headers: { Authorization: `Bearer ${secret}` } }
  assertError(await world.send('/app/sessions', bearer), 401, 'session_missing')
  assertError(
    await world.send(`/app/sessions?__Host-domaindex=${secret}&session=${secret}`, {}),
    401,
    'session_missing',
  )
  assert.equal((await world.send('/account/quota', bearer)).status, 401)
  assert.equal((await world.ask('lookup', { token: secret, query: 'a.example' })).status, 401)
})

test('an idle session ends, and one in use ends at its maximum', async (t) => {
  keepClock(t)
  const { email } = await member()
  const [idle, used] = [browser(await signIn(email)).cookie, browser(await signIn(email)).cookie]
  const start = world.clock.now
  const usedAt = async (seconds: number) => {
    world.clock.now = start + seconds
    const found = await accountOf(used)
    await ledger.clearAttempts([]) // follows the record of its use
    return found
  }
  const step = SESSION_IDLE_SECONDS - 1
  assert.equal(await usedAt(step), email)
  assert.equal(await usedAt(2 * step), email)
  assert.equal(await accountOf(idle), null)
  assert.equal(await usedAt(SESSION_MAX_SECONDS - 1), email)
  assert.equal(await usedAt(SESSION_MAX_SECONDS), null)
})

test('a session that has ended stays ended, whatever the clock says', async () => {
  const { email } = await member()
  const { cookie, send } = browser(await signIn(email))
  assert.equal((await send('/app/sign-out', 'POST')).status, 204)
  for (let time = 0; time < 2; time++) assert.equal(await accountOf(cookie), null)
  assertError(await send('/app/sign-out', 'POST'), 401, 'session_missing')
})

test('suspension, deletion and a new password by the operator end every session', async () => {
  for (const end of ['suspend', 'delete', 'password'] as const) {
    const account = await member()
    const cookies = [browser(await signIn(account.email)).cookie, browser(await signIn(account.email)).cookie]
    for (const cookie of cookies) assert.equal(await accountOf(cookie), account.email)
    const changes = ledger.as(TESTER)
    if (end === 'suspend') await changes.suspendAccount(account.id, world.clock.now)
    else if (end === 'delete') await changes.deleteAccount(account.id)
    else await changes.setPassword(account.id, 'another hash', null, world.clock.now)
    for (const cookie of cookies) assert.equal(await accountOf(cookie), null, end)
  }
})

test('the store keeps neither the secret of a session nor a password nor the code of a link', async () => {
  const account = await member()
  const link = await createSignInLink(ledger, account.id, 'http://x.test', world.clock.now)
  const { cookie, send } = browser(await signIn(account.email))
  const fresh = 'a password to look for'
  const changed = await send('/app/password', 'POST', { current: PASSWORD, password: fresh })
  const secrets = [link.split('#code=')[1]!, cookie, browser(changed).cookie].map((text) => text.split('=').at(-1)!)
  const files = (await readdir(world.folder, { recursive: true, withFileTypes: true })).filter((each) => each.isFile())
  const bytes = Buffer.concat(await Promise.all(files.map((each) => readFile(join(each.parentPath, each.name)))))
  assert.ok(bytes.includes(account.email), 'these are the files of the ledger')
  for (const secret of [...secrets, PASSWORD, fresh]) assert.ok(!bytes.includes(secret), secret)
})

test('the audit log tells of a new password without any part of it', async () => {
  const { email } = await member()
  const { send } = browser(await signIn(email))
  await send('/app/password', 'POST', { current: PASSWORD, password: 'a new long password' })
  const entries = await ledger.audit({ email, from: null, to: null }, 0, 100)
  const [last] = entries.slice(-1)
  assert.deepEqual([last?.actor, last?.origin], [email, 'web'])
  assert.match(last!.action, /password/)
  assert.doesNotMatch(JSON.stringify(entries), /argon2|a new long|battery/)
})
