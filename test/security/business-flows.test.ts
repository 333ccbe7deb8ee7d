/** OWASP API6:2023, unrestricted access to sensitive business flows: accounts, mail and quotas cannot be farmed. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { visit } from '../app/sessions.ts'
import { until } from '../until.ts'
import { PASSWORD } from './members.ts'
import { pageServer } from './page-server.ts'

const { world, mailbox, post } = await pageServer()
const { ledger } = world.store
const codeTo = (email: string) =>
  until(() => /#code=(\S+)/.exec(mailbox.received.find(({ to }) => to.includes(email))?.text ?? '')?.[1])

test('a link that many requests use at once creates one account and one session', async () => {
  const email = 'once@example.com'
  await post('/app/sign-up', { email })
  const code = await codeTo(email)
  const answers = await Promise.all(Array.from({ length: 10 }, () => post('/app/verify', { code, password: PASSWORD })))
  assert.deepEqual(answers.map(({ status }) => status).toSorted(), [200, ...Array(9).fill(400)])
  const account = (await ledger.account(email))!
  assert.equal((await ledger.sessions(account.id)).length, 1)
})

test('two sign-ups with one address make one account, with the password of the first visit', async () => {
  const email = 'twice@example.com'
  await post('/app/sign-up', { email })
  const first = await codeTo(email)
  await post('/app/sign-up', { email })
  const messages = await until(() => {
    const found = mailbox.received.filter(({ to }) => to.includes(email))
    return found.length === 2 ? found : null
  })
  const second = messages.map(({ text }) => /#code=(\S+)/.exec(text)![1]!).find((code) => code !== first)
  assert.equal((await post('/app/verify', { code: second, password: 'another long password' })).status, 200)
  assert.equal((await post('/app/verify', { code: first, password: PASSWORD })).status, 400)
  assert.equal((await post('/app/sign-in', { email, password: 'another long password' })).status, 200)
  assert.equal((await post('/app/sign-in', { email, password: PASSWORD })).status, 401)
})

test('a client can ask for 20 messages an hour, to whatever addresses', async () => {
  world.clock.now += 3_600
  const ask = (number: number) => post('/app/sign-up', { email: `farm${number}@example.com` })
  for (let number = 0; number < 20; number++) assert.equal((await ask(number)).status, 202)
  const refused = await ask(20)
  assert.equal(refused.status, 429)
  assert.equal(((await refused.json()) as { error: string }).error, 'too_many_attempts')
  assert.equal(refused.headers.get('retry-after'), '3600')
})

test('neither tokens nor sessions raise the daily limit of an account', async () => {
  const { account, token } = await world.account()
  const others = [await world.token(account), await world.token(account)]
  const { headers } = await visit(world, account)
  await world.ingest({ domain: 'a.example', observed_at: '2026-11-20T00:00:00Z' })
  let answered = 0
  for (let call = 0; call < 120; call++) {
    const by = call % 4
    const query = { query: 'a.example' }
    const seen =
      by === 3
        ? await post('/app/api/lookup', query, headers)
        : await post('/v1.0/lookup', { ...query, token: [token, ...others][by] })
    if (seen.status === 200) answered++
    else assert.equal(seen.status, 429)
  }
  assert.equal(answered, 100)
})
