/** /dnshistory: totals, limits and paging, one record type at a time. */

import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { formatInstant } from '../../../src/values/time.ts'
import { assertRefused } from '../errors.ts'
import { look, ok } from '../observations.ts'
import { metaOf, pages } from '../walks.ts'
import { makeWorld, NOON, type Parameters } from '../world.ts'

const world = await makeWorld()
const { token } = await world.account({ plan: 'premium' })
const basic = await world.account({ plan: 'basic' })
const ask = (parameters: Parameters) => world.ask('dnshistory', { token, ...parameters })

/** Observations that each add a state of A and of MX, one per minute. The last one is at noon. */
function changes(domain: string, count: number): object[] {
  return Array.from({ length: count }, (_, index) => {
    const A = [`192.0.${index >> 8}.${index & 255}`]
    const MX = [{ priority: index, mail_server: 'mx.example' }]
    return look(domain, { dns: ok({ A, MX, NS: ['ns.example'] }) }, `${minute(index, count)}Z`)
  })
}
const minute = (index: number, count: number) => formatInstant(NOON - 60 * (count - 1 - index))

type State = { first_seen: string; records: object[] }
type Body = { meta: Record<string, unknown>; result: Record<string, State[]> }

/** The states of A from `changes`, newest first. */
const statesOf = (count: number): State[] =>
  Array.from({ length: count }, (_, index) => ({
    first_seen: minute(index, count),
    records: [{ ipv4_address: `192.0.${index >> 8}.${index & 255}` }],
  })).reverse()

before(async () => {
  await world.ingest(...changes('dozen.example', 12), ...changes('ten.example', 10))
  await world.ingest(...changes('thousand.example', 1000), ...changes('more.example', 1001))
})

test('totals: number of states per record type regardless of limit; truncated: types with older states', async () => {
  const { body } = await ask({ query: 'dozen.example', limit: 2 })
  const { meta, result } = body as Body
  assert.deepEqual(meta, {
    query: 'dozen.example',
    rcode: 200,
    count: 5,
    max_limit: 100,
    limit: 2,
    totals: { A: 12, AAAA: 0, MX: 12, TXT: 0, NS: 1, SOA: 0, CNAME: 0 },
    truncated: ['A', 'MX'],
  })
  assert.deepEqual(result.A, statesOf(12).slice(0, 2))
})

test('truncated is absent when all complete', async () => {
  assert.deepEqual(metaOf(await ask({ query: 'ten.example' })), {
    query: 'ten.example',
    rcode: 200,
    count: 21,
    max_limit: 100,
    limit: 10,
    totals: { A: 10, AAAA: 0, MX: 10, TXT: 0, NS: 1, SOA: 0, CNAME: 0 },
  })
})

test('next is present only if the request has a single type and that type is truncated', async () => {
  assert.ok(!('next' in metaOf(await ask({ query: 'dozen.example' }))))
  assert.ok(!('next' in metaOf(await ask({ query: 'dozen.example', type: 'NS', limit: 1 }))))
  assert.ok(!('next' in metaOf(await ask({ query: 'dozen.example', type: 'A', limit: 12 }))))
  assert.equal(typeof metaOf(await ask({ query: 'dozen.example', type: 'A', limit: 11 })).next, 'string')
})

for (const limit of [1, 5, 6, 11, 12, 100]) {
  test(`paging by ${limit}: repeat with next until it is absent; every state is returned once, newest first`, async () => {
    const seen = await pages(world, 'dnshistory', { token, query: 'dozen.example', type: 'a', limit })
    assert.equal(seen.length, Math.ceil(12 / limit))
    assert.deepEqual(
      seen.flatMap(({ body }) => (body as Body).result.A!),
      statesOf(12),
    )
    for (const page of seen) {
      const { next, ...meta } = metaOf(page)
      const isLast = page === seen.at(-1)
      const count = (page.body as Body).result.A!.length
      const expected = { query: 'dozen.example', rcode: 200, count, max_limit: 100, limit, totals: { A: 12 } }
      assert.deepEqual(meta, isLast ? expected : { ...expected, truncated: ['A'] })
      assert.equal(next === undefined, isLast)
    }
  })
}

test('a meta.next contains domain and type, so type may be omitted', async () => {
  const { next } = metaOf(await ask({ query: 'dozen.example', type: 'A', limit: 10 }))
  const omitted = await ask({ query: 'dozen.example', next })
  assert.deepEqual(omitted.body, {
    meta: { query: 'dozen.example', rcode: 200, count: 2, max_limit: 100, limit: 10, totals: { A: 12 } },
    result: { A: statesOf(12).slice(10) },
  })
  assert.deepEqual((await ask({ query: 'DOZEN.example.', next, type: 'a' })).body, omitted.body)
})

test('next as a bare first_seen: states strictly older than it', async () => {
  const states = statesOf(12)
  const next = states[9]!.first_seen
  assert.deepEqual((await ask({ query: 'dozen.example', type: 'A', next })).body, {
    meta: { query: 'dozen.example', rcode: 200, count: 2, max_limit: 100, limit: 10, totals: { A: 12 } },
    result: { A: states.slice(10) },
  })
  const older = await ask({ query: 'dozen.example', type: 'A', next: states[11]!.first_seen })
  assert.deepEqual((older.body as Body).result, { A: [] })
  const first = await ask({ query: 'dozen.example', type: 'A', next: '2027-01-01T00:00:00' })
  assert.deepEqual((first.body as Body).result, { A: states.slice(0, 10) })
  const follows = await ask({ query: 'dozen.example', next: metaOf(first).next })
  assert.deepEqual((follows.body as Body).result, { A: states.slice(10) })
})

test('totals_capped: types whose count stopped at 1,000, so their total means at least; absent when none', async () => {
  assert.deepEqual(metaOf(await ask({ query: 'more.example', limit: 1 })), {
    query: 'more.example',
    rcode: 200,
    count: 3,
    max_limit: 100,
    limit: 1,
    totals: { A: 1000, AAAA: 0, MX: 1000, TXT: 0, NS: 1, SOA: 0, CNAME: 0 },
    totals_capped: ['A', 'MX'],
    truncated: ['A', 'MX'],
  })
  const { next, ...single } = metaOf(await ask({ query: 'more.example', type: 'MX' }))
  assert.deepEqual(single, {
    query: 'more.example',
    rcode: 200,
    count: 10,
    max_limit: 100,
    limit: 10,
    totals: { MX: 1000 },
    totals_capped: ['MX'],
    truncated: ['MX'],
  })
  assert.equal(typeof next, 'string')
})

test('capped means more than 1,000: with 1,000 states the total is exact', async () => {
  const meta = metaOf(await ask({ query: 'thousand.example', limit: 1 }))
  assert.deepEqual(meta.totals, { A: 1000, AAAA: 0, MX: 1000, TXT: 0, NS: 1, SOA: 0, CNAME: 0 })
  assert.ok(!('totals_capped' in meta))
})

test('paging also returns the states beyond a capped total', async () => {
  const seen = await pages(world, 'dnshistory', { token, query: 'more.example', type: 'A', limit: 100 })
  assert.equal(seen.length, 11)
  assert.deepEqual(
    seen.flatMap(({ body }) => (body as Body).result.A!),
    statesOf(1001),
  )
  assert.deepEqual(metaOf(seen.at(-1)!).totals_capped, ['A'])
})

test('limit: default 10; cap Basic 10, Premium 100; higher silently reduced', async () => {
  const applied = async (token: string, limit?: unknown) => {
    const { meta, result } = (await ask({ query: 'more.example', type: 'A', token, limit })).body as Body
    assert.equal(result.A!.length, meta.limit)
    return [meta.limit, meta.max_limit]
  }
  assert.deepEqual(await applied(token), [10, 100])
  assert.deepEqual(await applied(token, 100), [100, 100])
  assert.deepEqual(await applied(token, 101), [100, 100])
  assert.deepEqual(await applied(token, '55'), [55, 100])
  assert.deepEqual(await applied(basic.token), [10, 10])
  assert.deepEqual(await applied(basic.token, 11), [10, 10])
  assert.deepEqual(await applied(basic.token, 3), [3, 10])
})

test('a new state between two pages neither shifts nor repeats the rows that follow', async () => {
  await world.ingest(...changes('growing.example', 4))
  const first = await ask({ query: 'growing.example', type: 'A', limit: 2 })
  await world.ingest(look('growing.example', { dns: ok({ A: ['198.51.100.1'] }) }, `${formatInstant(NOON + 60)}Z`))
  const second = await ask({ query: 'growing.example', limit: 2, next: metaOf(first).next })
  assert.deepEqual((second.body as Body).result.A, statesOf(4).slice(2))
  assert.deepEqual((second.body as Body).meta.totals, { A: 5 })
})

for (const [key, parameters] of [
  ['cursor_needs_type', { next: '2026-11-19T00:00:00' }],
  ['cursor_invalid', { next: 'neither' }],
  ['cursor_invalid', { type: 'A', next: 'neither' }],
  ['cursor_invalid', { type: 'A', next: '2026-11-19' }],
  ['cursor_invalid', { type: 'A', next: '2026-11-19T00:00:00Z' }],
  ['cursor_invalid', { type: 'A', next: '2026-02-30T00:00:00' }],
  ['cursor_invalid', { type: 'A', next: '2026-11-19 00:00:00' }],
  ['cursor_invalid', { type: 'A', next: 20261119 }],
  ['cursor_invalid', { type: 'A', next: ['2026-11-19T00:00:00'] }],
] as const) {
  test(`400 ${key}, at the top level: ${JSON.stringify(parameters)}`, async () => {
    assertRefused(await ask({ query: 'dozen.example', ...parameters }), 'dnshistory', key)
  })
}

test('400 cursor_mismatch: different domain, or record type differs from the type sent', async () => {
  const { next } = metaOf(await ask({ query: 'dozen.example', type: 'A', limit: 1 }))
  assertRefused(await ask({ query: 'ten.example', next }), 'dnshistory', 'cursor_mismatch')
  assertRefused(await ask({ query: 'dozen.example', type: 'MX', next }), 'dnshistory', 'cursor_mismatch')
})
