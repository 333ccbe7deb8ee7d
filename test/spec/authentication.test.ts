/** Authentication: where the token is read, which tokens are accepted, and what plans and add-ons allow. */

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { makeToken, TOKEN_BYTES } from '../../src/accounts/token.ts'
import { TESTER } from '../tester.ts'
import { assertRefused } from './errors.ts'
import { look } from './observations.ts'
import { makeWorld, NOON } from './world.ts'

const world = await makeWorld()
const ENDPOINTS = ['lookup', 'redirect', 'reverseip', 'dnshistory', 'daily', 'snapshot', 'similar']
const QUERY = { query: 'known.example' }
await world.ingest(look('known.example'))

const post = (path: string, body: string, headers: Record<string, string> = {}) =>
  world.send(path, { method: 'POST', headers: { 'Content-Type': 'application/json', ...headers }, body })

for (const endpoint of ENDPOINTS) {
  test(`/${endpoint}: missing token: 401 token_missing`, async () => {
    for (const token of [undefined, null, '', '   ']) {
      assertRefused(await world.ask(endpoint, { ...QUERY, token }), endpoint, 'token_missing')
    }
    const msg = assertRefused(await world.ask(endpoint, QUERY, { method: 'GET' }), endpoint, 'token_missing')
    assert.match(msg, /domaindex account token create/)
    assertRefused(await world.ask(endpoint, { ...QUERY, token: '' }, { method: 'GET' }), endpoint, 'token_missing')
  })

  test(`/${endpoint}: unknown token: 401 token_invalid`, async () => {
    const token = makeToken(randomBytes(TOKEN_BYTES)) // of the right form, and never issued
    for (const wrong of [token, 'x', 'dxt_', `${token}x`, token.toLowerCase(), token.slice(0, -1), '\u0000', '🔑']) {
      assertRefused(await world.ask(endpoint, { ...QUERY, token: wrong }), endpoint, 'token_invalid')
    }
    assertRefused(await world.ask(endpoint, { ...QUERY, token }, { method: 'GET' }), endpoint, 'token_invalid')
  })

  test(`/${endpoint}: a token that is not a string: 401 token_invalid`, async () => {
    for (const token of [0, 1, true, false, [], ['x'], {}, { token: 'x' }]) {
      assertRefused(await world.ask(endpoint, { ...QUERY, token }), endpoint, 'token_invalid')
    }
  })

  test(`/${endpoint}: a body that is not a JSON object has no token: 401 token_missing, and msg says so`, async () => {
    const { token } = await world.account()
    const object = JSON.stringify({ ...QUERY, token })
    for (const body of [
      '',
      '{',
      'null',
      '[]',
      '"text"',
      '7',
      `[${object}]`,
      `${object}}`,
      `token=${token}`,
      "{'a':1}",
    ]) {
      const msg = assertRefused(await post(`/v1.0/${endpoint}`, body), endpoint, 'token_missing')
      assert.match(msg, /not a JSON object/)
    }
  })
}

test('there is no separate authentication header', async () => {
  const { token } = await world.account()
  for (const headers of [{ Authorization: `Bearer ${token}` }, { token }, { 'X-API-Key': token }]) {
    assertRefused(await world.ask('lookup', QUERY, { headers }), 'lookup', 'token_missing')
    assertRefused(await world.ask('lookup', QUERY, { method: 'GET', headers }), 'lookup', 'token_missing')
  }
})

test('on GET requests the token is a query-string parameter', async () => {
  const { token } = await world.account()
  assert.equal((await world.ask('lookup', { ...QUERY, token }, { method: 'GET' })).status, 200)
})

test('the query string of a POST is not read', async () => {
  const { token } = await world.account()
  const inAddress = `/v1.0/lookup?token=${token}&query=known.example`
  assertRefused(await post(inAddress, JSON.stringify(QUERY)), 'lookup', 'token_missing')
  assertRefused(await post(inAddress, JSON.stringify({ token })), 'lookup', 'query_missing')
})

test('the body of a GET is not read, nor is the token in the path', async () => {
  const { token } = await world.account()
  assertRefused(await world.send(`/v1.0/lookup/${token}?query=known.example`, {}), '', 'endpoint_unknown')
})

test('white space around the token is ignored', async () => {
  const { token } = await world.account()
  assert.equal((await world.ask('lookup', { ...QUERY, token: ` ${token}\n` })).status, 200)
})

test('an account can have several tokens', async () => {
  const { account, token } = await world.account()
  const second = await world.token(account)
  for (const each of [token, second]) assert.equal((await world.ask('lookup', { ...QUERY, token: each })).status, 200)
})

test('a revoked token is rejected everywhere within a second, and the other tokens of its account are not', async () => {
  const { account, token } = await world.account()
  const second = await world.token(account)
  const status = async (token: string) => (await world.ask('lookup', { ...QUERY, token })).status
  assert.deepEqual([await status(token), await status(second)], [200, 200])
  await world.revoke({ account, token })
  world.clock.ticks += 1000
  assert.deepEqual([await status(token), await status(second)], [401, 200])
  assertRefused(await world.ask('lookup', { ...QUERY, token }), 'lookup', 'token_invalid')
})

test('an expired token is no longer active', async () => {
  const { account } = await world.account()
  const token = await world.token(account, NOON + 60)
  assert.equal((await world.ask('lookup', { ...QUERY, token })).status, 200)
  world.clock.now = NOON + 59
  assert.equal((await world.ask('lookup', { ...QUERY, token })).status, 200)
  world.clock.now = NOON + 60
  assertRefused(await world.ask('lookup', { ...QUERY, token }), 'lookup', 'token_invalid')
  world.clock.now = NOON
})

test('a deleted account is rejected within a second', async () => {
  const { account, token } = await world.account()
  assert.equal((await world.ask('lookup', { ...QUERY, token })).status, 200)
  await world.store.ledger.as(TESTER).deleteAccount(account.id)
  world.clock.ticks += 1000
  assertRefused(await world.ask('lookup', { ...QUERY, token }), 'lookup', 'token_invalid')
})

test('a suspended account is rejected everywhere within a second, and accepted again within a second', async () => {
  const { account, token } = await world.account({ plan: 'premium' })
  const ask = () => world.ask('lookup', { ...QUERY, token })
  const others = () => [
    world.send('/account/quota', { headers: { Authorization: `Bearer ${token}` } }),
    world.send('/files/2026-11-17.txt.gz', { headers: { Authorization: `Bearer ${token}` } }),
  ]
  assert.equal((await ask()).status, 200)
  await world.store.ledger.as(TESTER).suspendAccount(account.id, NOON)
  world.clock.ticks += 1000
  assert.match(assertRefused(await ask(), 'lookup', 'token_invalid'), /suspended/)
  for (const seen of await Promise.all(others())) assertRefused(seen, '', 'token_invalid')
  await world.store.ledger.as(TESTER).resumeAccount(account.id)
  world.clock.ticks += 1000
  assert.equal((await ask()).status, 200)
})

test('plan in force: the higher of the base plan and the plan of the current period', async () => {
  const ceiling = async (plan: 'free' | 'basic' | 'premium', periods: string[]) => {
    const { token } = await world.account({ plan, periods })
    const { body } = await world.ask('redirect', { token, query: 'known.example' })
    return (body as { meta: { max_limit: number } }).meta.max_limit
  }
  assert.equal(await ceiling('free', []), 1_000)
  assert.equal(await ceiling('basic', []), 10_000)
  assert.equal(await ceiling('premium', []), 50_000)
  assert.equal(await ceiling('free', ['premium:2026-11-20..2026-11-20']), 50_000)
  assert.equal(await ceiling('basic', ['premium:2026-11-21..']), 10_000)
  assert.equal(await ceiling('free', ['premium:2026-11-01..2026-11-19']), 1_000)
  assert.equal(await ceiling('premium', ['basic:2026-01-01..']), 50_000)
})

test('a period starts and ends with its days in UTC, also for a token that is already cached', async () => {
  const { token } = await world.account({ periods: ['basic:2026-11-21..2026-11-21'] })
  const ask = () => world.ask('dnshistory', { token, query: 'known.example' })
  const midnight = NOON + 43_200
  world.clock.now = midnight - 1
  assertRefused(await ask(), 'dnshistory', 'plan_required')
  world.clock.now = midnight
  assert.equal((await ask()).status, 200)
  world.clock.now = midnight + 86_400
  assertRefused(await ask(), 'dnshistory', 'plan_required')
  world.clock.now = NOON
})

test('a change of plan takes effect within a second', async () => {
  const { account, token } = await world.account()
  const ask = () => world.ask('dnshistory', { token, query: 'known.example' })
  assertRefused(await ask(), 'dnshistory', 'plan_required')
  await world.store.ledger.as(TESTER).setPlan(account.id, 'basic')
  world.clock.ticks += 1000
  assert.equal((await ask()).status, 200)
})
