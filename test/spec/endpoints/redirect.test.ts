/** /redirect: the domains that redirect to a given domain, page by page. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertRefused } from '../errors.ts'
import { look, NXDOMAIN, redirecting } from '../observations.ts'
import { metaOf, pages, rowsOf } from '../walks.ts'
import { makeWorld, type Parameters } from '../world.ts'

const world = await makeWorld()
const { token } = await world.account({ plan: 'premium' })
const ask = (parameters: Parameters) => world.ask('redirect', { token, ...parameters })

/** Sources in the byte order of their names, which differs from every other order: - . 0 _ a. */
const SOURCES = ['a-b.test', 'a.test', 'a0.test', 'a_b.test', 'aa.test', 'b.test', 'xn--bcher-kva.test']
await world.ingest(...SOURCES.toReversed().map((source) => redirecting(source, 'target.example')))

test('response 200: meta and result as array of {target}, each a domain that redirects to the queried domain', async () => {
  const seen = await ask({ query: 'Target.Example' })
  assert.equal(seen.status, 200)
  assert.deepEqual(seen.body, {
    meta: { query: 'target.example', limit: 1000, max_limit: 50_000, rcode: 200, msg: 'ok', next: null },
    result: SOURCES.map((target) => ({ target })),
  })
})

for (const limit of [1, 2, 3, 6, 7, 8]) {
  test(`paging by ${limit}: repeat with next until it is null; every row is returned once, in order`, async () => {
    const seen = await pages(world, 'redirect', { token, query: 'target.example', limit })
    assert.equal(seen.length, Math.ceil(SOURCES.length / limit))
    for (const page of seen.slice(0, -1)) {
      const { next, ...meta } = metaOf(page)
      assert.deepEqual(meta, { query: 'target.example', limit, max_limit: 50_000, rcode: 200, msg: 'ok' })
      assert.match(next, /^[\w.~-]+$/, 'safe in a URL')
    }
    const rows = seen.flatMap(({ body }) => (body as { result: object[] }).result)
    assert.deepEqual(
      rows,
      SOURCES.map((target) => ({ target })),
    )
  })
}

test('limit may change from page to page', async () => {
  const first = metaOf(await ask({ query: 'target.example', limit: 2 }))
  const second = metaOf(await ask({ query: 'target.example', limit: 4, next: first.next }))
  assert.equal(second.limit, 4)
  const third = await ask({ query: 'target.example', next: second.next })
  assert.deepEqual(third.body, {
    meta: { query: 'target.example', limit: 1000, max_limit: 50_000, rcode: 200, msg: 'ok', next: null },
    result: [{ target: 'xn--bcher-kva.test' }],
  })
})

test('never 404: an unknown domain, or no source, is 200, result: [], next: null', async () => {
  await world.ingest(look('alone.example'))
  for (const query of ['alone.example', 'unknown.example', 'a.suffix-that-is-none']) {
    const seen = await ask({ query })
    assert.equal(seen.status, 200)
    assert.deepEqual(seen.body, {
      meta: { query, limit: 1000, max_limit: 50_000, rcode: 200, msg: 'ok', next: null },
      result: [],
    })
  }
})

test('the target is the registrable domain, and the source the crawled name', async () => {
  await world.ingest(redirecting('deep.source.example', 'www.shop.merchant.co.uk'))
  const rows = await rowsOf(world, 'redirect', { token, query: 'merchant.co.uk' })
  assert.deepEqual(rows, [{ target: 'deep.source.example' }])
  assert.deepEqual(await rowsOf(world, 'redirect', { token, query: 'www.shop.merchant.co.uk' }), [])
})

test('a source that redirects elsewhere, or nowhere, is no longer listed, and one that left DNS stays', async () => {
  const [moved, ended, left] = ['moved.example', 'ended.example', 'left.example']
  await world.ingest(...[moved, ended, left].map((source) => redirecting(source, 'changing.example')))
  await world.ingest(
    redirecting(moved, 'other.example', '2026-11-20T01:00:00Z'),
    redirecting(ended, 'ended.example', '2026-11-20T01:00:00Z'),
    look(left, { dns: NXDOMAIN }, '2026-11-20T01:00:00Z'),
  )
  assert.deepEqual(await rowsOf(world, 'redirect', { token, query: 'changing.example' }), [{ target: left }])
  assert.deepEqual(await rowsOf(world, 'redirect', { token, query: 'other.example' }), [{ target: moved }])
})

test('paging during writes never skips or repeats a row that existed from start to end', async () => {
  const stay = Array.from({ length: 9 }, (_, index) => `stay${index}.test`)
  await world.ingest(...stay.map((source) => redirecting(source, 'busy.example')))
  const seen: string[] = []
  let next: string | null = null
  do {
    const page = await ask({ query: 'busy.example', limit: 2, next })
    seen.push(...(page.body as { result: { target: string }[] }).result.map(({ target }) => target))
    next = metaOf(page).next
    const now = '2026-11-20T02:00:00Z'
    const come = ['a-new.test', `stay${seen.length}-new.test`].map((source) => redirecting(source, 'busy.example', now))
    await world.ingest(...come)
  } while (next !== null)
  assert.deepEqual(
    seen.filter((target) => stay.includes(target)),
    stay,
  )
  assert.equal(new Set(seen).size, seen.length)
})

test('a page reached by a cursor never answers 404: an empty result and next null', async () => {
  const sources = ['one.test', 'two.test']
  await world.ingest(...sources.map((source) => redirecting(source, 'emptied.example')))
  const { next } = metaOf(await ask({ query: 'emptied.example', limit: 1 }))
  await world.ingest(...sources.map((source) => redirecting(source, 'other.test', '2026-11-20T02:00:00Z')))
  const seen = await ask({ query: 'emptied.example', next })
  assert.deepEqual(seen.body, {
    meta: { query: 'emptied.example', limit: 1000, max_limit: 50_000, rcode: 200, msg: 'ok', next: null },
    result: [],
  })
})

for (const [key, parameters] of [
  ['query_missing', {}],
  ['query_missing', { query: '' }],
  ['domain_format', { query: 'nodot' }],
  ['domain_format', { query: '192.0.2.1' }],
  ['domain_format', { query: 'https://target.example' }],
  ['domain_format', { query: 'target.example/' }],
  ['domain_format', { query: ['target.example'] }],
  ['cursor_invalid', { query: 'target.example', next: 'something' }],
  ['cursor_invalid', { query: 'target.example', next: '2026-11-19T00:00:00' }],
  ['cursor_invalid', { query: 'target.example', next: { a: 1 } }],
  ['cursor_invalid', { query: 'target.example', next: 7 }],
] as const) {
  test(`400 ${key}, nested inside result: ${JSON.stringify(parameters)}`, async () => {
    assertRefused(await ask(parameters), 'redirect', key)
  })
}

test('next that is null or "" is the first page', async () => {
  for (const next of [null, '', '  ']) {
    const seen = await ask({ query: 'target.example', limit: 1, next })
    assert.deepEqual((seen.body as { result: unknown }).result, [{ target: 'a-b.test' }])
  }
})
