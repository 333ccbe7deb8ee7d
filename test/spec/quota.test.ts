/** The daily quota: what is counted, what is rejected, and when it restarts. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TESTER } from '../tester.ts'
import { assertRefused } from './errors.ts'
import { hosted, look, redirecting, site } from './observations.ts'
import { metaOf } from './walks.ts'
import { type Known, makeWorld, NOON, type Parameters, type World } from './world.ts'

const world = await makeWorld()
const QUERY = { query: 'known.example' }
await world.ingest(
  look('known.example'),
  redirecting('a.test', 'known.example'),
  redirecting('b.test', 'known.example'),
  look('says.example', { web: site({ text: 'Some words.' }) }),
)

type Quota = { limit: number; used: number; remaining: number; reset: string }
const quotaOf = async (token: string, asked: World = world) =>
  (await asked.send('/account/quota', { headers: { Authorization: `Bearer ${token}` } })).body as Quota
const used = async ({ token }: Known) => (await quotaOf(token)).used

/** Spends all but `left` units of an account's budget, as other processes would. */
async function spendAllBut(left: number, { account }: Known, limit: number): Promise<void> {
  const { ledger } = world.store
  const ask = { account: account.id, day: '2026-11-20' as never, limit: limit - left, holder: 'another process' }
  const take = async () => {
    const { granted } = await ledger.takeQuota({ ...ask, requested: 64 })
    if (granted > 1) await ledger.settleQuota([{ ...ask, spent: granted, returned: 0 }])
    return granted
  }
  let granted = 1
  while (granted > 0) granted = Math.max(...(await Promise.all(Array.from({ length: 1000 }, take))))
}

for (const [plan, limit] of [
  ['free', 100],
  ['basic', 25_000],
  ['premium', 250_000],
] as const) {
  test(`daily queries, ${plan}: ${limit}; the one above it is answered 429 rate_limited with limit and used`, async () => {
    const known = await world.account({ plan })
    assert.deepEqual(await quotaOf(known.token), {
      limit,
      used: 0,
      remaining: limit,
      reset: '2026-11-21T00:00:00+00:00',
    })
    await spendAllBut(2, known, limit)
    const ask = () => world.ask('lookup', { ...QUERY, token: known.token })
    assert.equal((await ask()).status, 200)
    assert.equal((await ask()).status, 200)
    const refused = await ask()
    assertRefused(refused, 'lookup', 'rate_limited', { limit, used: limit })
    assert.equal(refused.headers.get('Retry-After'), '43200')
    assert.equal(refused.headers.get('RateLimit'), '"daily";r=0;t=43200')
    assertRefused(await ask(), 'lookup', 'rate_limited', { limit, used: limit })
    assert.equal((await quotaOf(known.token)).used, limit)
  })
}

test('429: limit and used are next to rcode, nested on lookup, redirect, reverseip, at the top level elsewhere', async () => {
  const known = await world.account({ addons: ['export'], periods: ['premium:2020-01-01..2020-01-31'] })
  await spendAllBut(0, known, 100)
  for (const endpoint of ['lookup', 'redirect', 'reverseip', 'dnshistory', 'daily', 'snapshot', 'similar']) {
    const seen = await world.ask(endpoint, { ...QUERY, token: known.token })
    assertRefused(seen, endpoint, 'rate_limited', { limit: 100, used: 100 })
    assert.equal(seen.headers.get('Retry-After'), '43200')
  }
})

test('Retry-After: seconds to the next UTC midnight, when the budget restarts', async () => {
  const known = await world.account()
  await spendAllBut(0, known, 100)
  const ask = () => world.ask('lookup', { ...QUERY, token: known.token })
  world.clock.now = NOON + 43_199
  const last = await ask()
  assertRefused(last, 'lookup', 'rate_limited', { limit: 100, used: 100 })
  assert.equal(last.headers.get('Retry-After'), '1')
  world.clock.now = NOON + 43_200
  const first = await ask()
  assert.equal(first.status, 200)
  assert.equal(first.headers.get('RateLimit'), '"daily";r=99;t=86400')
  assert.deepEqual(await quotaOf(known.token), {
    limit: 100,
    used: 1,
    remaining: 99,
    reset: '2026-11-22T00:00:00+00:00',
  })
  world.clock.now = NOON
})

/** What costs a call and what does not: the operation, its status, its price. */
const PRICES: readonly [string, number, 0 | 1, (token: string) => Promise<{ status: number }>][] = [
  ['lookup, 200', 200, 1, (token) => world.ask('lookup', { ...QUERY, token })],
  ['lookup by GET, 200', 200, 1, (token) => world.ask('lookup', { ...QUERY, token }, { method: 'GET' })],
  ['lookup, 404 no_data', 404, 1, (token) => world.ask('lookup', { query: 'unknown.example', token })],
  ['redirect, 200', 200, 1, (token) => world.ask('redirect', { ...QUERY, token })],
  ['redirect without rows, 200', 200, 1, (token) => world.ask('redirect', { query: 'unknown.example', token })],
  ['reverseip, 404 no_data', 404, 1, (token) => world.ask('reverseip', { ...QUERY, token })],
  ['dnshistory, 200', 200, 1, (token) => world.ask('dnshistory', { ...QUERY, token })],
  ['similar, 200', 200, 1, (token) => world.ask('similar', { query: 'says.example', token })],
  ['similar, 404 no_data', 404, 1, (token) => world.ask('similar', { ...QUERY, token })],
  ['daily, 404 no_data', 404, 1, (token) => world.ask('daily', { date: '2026-11-01', token })],
  ['snapshot, 404 no_data', 404, 1, (token) => world.ask('snapshot', { token })],
  ['400 query_missing', 400, 0, (token) => world.ask('lookup', { token })],
  ['400 domain_format', 400, 0, (token) => world.ask('redirect', { query: 'nodot', token })],
  ['400 type_invalid', 400, 0, (token) => world.ask('dnshistory', { ...QUERY, type: 'PTR', token })],
  ['400 cursor_invalid', 400, 0, (token) => world.ask('redirect', { ...QUERY, next: 'x', token })],
  ['400 date_missing', 400, 0, (token) => world.ask('daily', { token })],
  ['403 addon_required', 403, 0, (token) => world.ask('snapshot', { enriched: '1', token })],
  ['403 before_subscription', 403, 0, (token) => world.ask('daily', { date: '2020-01-01', token })],
  ['401 token_invalid', 401, 0, (token) => world.ask('lookup', { ...QUERY, token: `${token}x` })],
  ['413 body_too_large', 413, 0, (token) => world.ask('lookup', { ...QUERY, token, pad: 'x'.repeat(65_536) })],
  ['404 endpoint_unknown', 404, 0, (token) => world.ask('nothing', { ...QUERY, token })],
  ['HEAD of a query endpoint', 200, 1, (token) => world.ask('lookup', { ...QUERY, token }, { method: 'HEAD' })],
  [
    'HEAD of a missing resource',
    404,
    1,
    (token) => world.ask('lookup', { query: 'b.example', token }, { method: 'HEAD' }),
  ],
  ['HEAD, 400 domain_format', 400, 0, (token) => world.ask('lookup', { query: 'x', token }, { method: 'HEAD' })],
  ['OPTIONS', 204, 0, (token) => world.ask('lookup', { ...QUERY, token }, { method: 'OPTIONS' })],
]

for (const [what, status, price, operation] of PRICES) {
  test(`${price === 1 ? 'counted' : 'not counted'}: ${what}`, async () => {
    const known = await world.account({ plan: 'basic', periods: ['basic:2026-06-01..'], addons: ['export'] })
    assert.equal((await operation(known.token)).status, status)
    assert.equal(await used(known), price)
    assert.equal((await operation(known.token)).status, status)
    assert.equal(await used(known), 2 * price)
  })
}

test('not counted: 403 plan_required', async () => {
  const known = await world.account()
  assertRefused(await world.ask('dnshistory', { ...QUERY, token: known.token }), 'dnshistory', 'plan_required')
  assertRefused(await world.ask('daily', { date: '2026-11-01', token: known.token }), 'daily', 'plan_required')
  assert.equal(await used(known), 0)
})

test('every paged call counts against the daily quota', async () => {
  const known = await world.account()
  const ask = (parameters: Parameters) =>
    world.ask('redirect', { ...QUERY, token: known.token, limit: 1, ...parameters })
  const { next } = metaOf(await ask({}))
  assert.equal(metaOf(await ask({ next })).next, null)
  assert.equal(await used(known), 2)
})

test('all tokens of one account share one daily quota; issuing another token does not raise it', async () => {
  const known = await world.account()
  await spendAllBut(2, known, 100)
  const tokens = [known.token, await world.token(known.account), await world.token(known.account)]
  const statuses = []
  for (const token of tokens) statuses.push((await world.ask('lookup', { ...QUERY, token })).status)
  assert.deepEqual(statuses, [200, 200, 429])
})

test('exact under 64 parallel clients: no call above the limit is answered, and none is rejected while a unit is unused', async () => {
  const known = await world.account()
  const calls = Array.from({ length: 160 }, () => world.ask('lookup', { ...QUERY, token: known.token }))
  const statuses = (await Promise.all(calls)).map(({ status }) => status)
  assert.equal(statuses.filter((status) => status === 200).length, 100)
  assert.equal(statuses.filter((status) => status === 429).length, 60)
  assert.equal(await used(known), 100)
})

test('a call that finally costs nothing holds its unit only while it is in flight', async () => {
  const known = await world.account()
  const calls = Array.from({ length: 160 }, (_, index) => {
    const query = index % 3 === 0 ? 'nodot' : 'known.example'
    return world.ask('lookup', { query, token: known.token })
  })
  const statuses = (await Promise.all(calls)).map(({ status }) => status)
  const count = (status: number) => statuses.filter((each) => each === status).length
  assert.equal(count(200) + count(400) + count(429), 160)
  while (statuses.at(-1) !== 429 || count(200) < 100) {
    statuses.push((await world.ask('lookup', { ...QUERY, token: known.token })).status)
    assert.ok(statuses.length <= 262, 'units that nobody holds are refused')
  }
  assert.equal(count(200), 100)
  assert.equal(await used(known), 100)
})

test('one budget over all processes: two servers on one store answer exactly the limit', async () => {
  const known = await world.account()
  const first = world.address
  await world.serve()
  const body = JSON.stringify({ ...QUERY, token: known.token })
  const calls = Array.from({ length: 130 }, (_, index) =>
    index % 2 === 0
      ? world.ask('lookup', { ...QUERY, token: known.token })
      : fetch(`${first}/v1.0/lookup`, { method: 'POST', body }),
  )
  const statuses = (await Promise.all(calls)).map(({ status }) => status)
  assert.equal(statuses.filter((status) => status === 200).length, 100)
  assert.equal(statuses.filter((status) => status === 429).length, 30)
})

test('authenticated responses have RateLimit-Policy and RateLimit', async () => {
  const known = await world.account()
  const headers = async (endpoint: string, parameters: Parameters) => {
    const seen = await world.ask(endpoint, { token: known.token, ...parameters })
    return [seen.status, seen.headers.get('RateLimit-Policy'), seen.headers.get('RateLimit')]
  }
  const policy = '"daily";q=100;w=86400'
  assert.deepEqual(await headers('lookup', QUERY), [200, policy, '"daily";r=99;t=43200'])
  assert.deepEqual(await headers('lookup', { query: 'unknown.example' }), [404, policy, '"daily";r=98;t=43200'])
  assert.deepEqual(await headers('lookup', {}), [400, policy, '"daily";r=98;t=43200'])
  assert.deepEqual(await headers('dnshistory', QUERY), [403, policy, '"daily";r=98;t=43200'])
  assert.deepEqual(await headers('lookup', { ...QUERY, token: 'x' }), [401, null, null])
  assert.deepEqual(await headers('nothing', {}), [404, null, null])
})

test('a plan that changes during the day changes the limit, and the used units stay', async () => {
  const known = await world.account()
  await spendAllBut(0, known, 100)
  await world.store.ledger.as(TESTER).setPlan(known.account.id, 'basic')
  world.clock.ticks += 1000
  assert.equal((await world.ask('lookup', { ...QUERY, token: known.token })).status, 200)
  const { limit, used, remaining } = await quotaOf(known.token)
  assert.deepEqual({ limit, used, remaining }, { limit: 25_000, used: 101, remaining: 24_899 })
  await world.store.ledger.as(TESTER).setPlan(known.account.id, 'free')
  world.clock.ticks += 1000
  const refused = await world.ask('lookup', { ...QUERY, token: known.token })
  assertRefused(refused, 'lookup', 'rate_limited', { limit: 100, used: 101 })
})

test('GET /account/quota takes a Bearer, costs nothing and works at 0 left', async () => {
  const known = await world.account()
  await spendAllBut(0, known, 100)
  for (let time = 0; time < 3; time++) {
    const expected = { limit: 100, used: 100, remaining: 0, reset: '2026-11-21T00:00:00+00:00' }
    assert.deepEqual(await quotaOf(known.token), expected)
  }
  for (const path of ['/account/quota', `/account/quota?token=${known.token}`, '/files/2026-11-17.txt.gz']) {
    const msg = assertRefused(await world.send(path, {}), '', 'token_missing')
    assert.match(msg, /"Authorization: Bearer TOKEN"/)
  }
  const stranger = await world.send('/account/quota', { headers: { Authorization: 'Bearer x' } })
  assertRefused(stranger, '', 'token_invalid')
})

test('a burst on an account with many units is counted exactly', async () => {
  const known = await world.account({ plan: 'premium' })
  await world.ingest(hosted('known.example', ['192.0.2.1']))
  await Promise.all(Array.from({ length: 50 }, () => world.ask('lookup', { ...QUERY, token: known.token })))
  assert.equal(await used(known), 50)
})
