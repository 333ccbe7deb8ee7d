/** /similar: the websites whose start pages have a similar text. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findExactNeighbours } from '../../../bench/similar/exact/exact.ts'
import { assertRefused } from '../errors.ts'
import { look, NXDOMAIN, site } from '../observations.ts'
import { makeWorld, type Parameters, type Seen } from '../world.ts'

type Row = { target: string; similarity: number }

const world = await makeWorld()
const { token } = await world.account({ plan: 'premium' })
const ask = (parameters: Parameters) => world.ask('similar', { token, ...parameters })
const says = (domain: string, text: string | null, observed_at?: string) =>
  look(domain, { web: site({ text }) }, observed_at)

/** Observes, and waits until the index has followed. */
async function show(...lines: object[]): Promise<void> {
  await world.ingest(...lines)
  await world.index()
}

function rowsOf({ status, text, body }: Seen): Row[] {
  assert.equal(status, 200, text)
  return (body as { result: Row[] }).result
}

/** The returned names in order. */
const namesFor = async (query: string) => rowsOf(await ask({ query })).map(({ target }) => target)

const BREAD = 'Fresh bread and cake from the old bakery by the harbour, since 1890.'
const MAPS = 'Lunar maps printed linen.'
const [TODAY, LATER] = ['2026-11-20T01:00:00Z', '2026-11-20T02:00:00Z']

await show(
  says('bread.example', BREAD),
  says('twin-b.example', BREAD),
  says('twin-a.example', BREAD),
  says('near.example', 'Fresh bread from the bakery by the station.'),
  says('far.example', 'A harbour for boats of every size.'),
  says('other.example', 'Insurance against hail, storm, fire.'),
  says('lone.example', 'Quarterly zeppelin newsletter.'),
  look('moved.example', { web: site({ has_website: false, text: BREAD }) }),
  look('gives-away.example', { web: site({ redirects_to: 'bread.example', text: BREAD }) }),
  look('silent.example', { web: site() }),
  look('bare.example'),
)

test('a list of websites with similar start-page text: meta, and rows of target and similarity', async () => {
  const seen = await ask({ query: 'Bread.Example.' })
  const rows = rowsOf(seen)
  const meta = { query: 'bread.example', rcode: 200, msg: 'ok', count: rows.length, limit: 100, max_limit: 100 }
  assert.deepEqual(seen.body, { meta, result: rows })
  assert.deepEqual(
    rows.map(({ target }) => target),
    ['twin-a.example', 'twin-b.example', 'near.example', 'far.example'],
  )
})

test('similarity is 0 to 1 with four decimals, highest first', async () => {
  const { text, body } = await ask({ query: 'bread.example' })
  const { result } = body as { result: Row[] }
  const written = [...text.matchAll(/"similarity":([^,}]*)/g)].map(([, number]) => number!)
  assert.equal(written.length, 4)
  for (const number of written) assert.match(number, /^(0\.\d{4}|1\.0000)$/)
  assert.deepEqual(
    result,
    result.toSorted((a, b) => b.similarity - a.similarity || (a.target < b.target ? -1 : 1)),
  )
})

test('pages with the same words come first, with 1.0000, ties by name', async () => {
  const { text } = await ask({ query: 'bread.example', limit: 2 })
  assert.ok(
    text.endsWith('[{"target":"twin-a.example","similarity":1.0000},{"target":"twin-b.example","similarity":1.0000}]}'),
  )
})

test('the queried domain is left out, and a page without similar ones has an empty list', async () => {
  assert.deepEqual(await namesFor('twin-a.example'), ['bread.example', 'twin-b.example', 'near.example', 'far.example'])
  const seen = await ask({ query: 'lone.example' })
  const meta = { query: 'lone.example', rcode: 200, msg: 'ok', count: 0, limit: 100, max_limit: 100 }
  assert.deepEqual([seen.status, seen.body], [200, { meta, result: [] }])
})

test('only domains with a website are listed and have a response', async () => {
  assert.ok(!(await namesFor('bread.example')).some((name) => ['moved.example', 'gives-away.example'].includes(name)))
  for (const query of ['moved.example', 'gives-away.example']) assertRefused(await ask({ query }), 'similar', 'no_data')
})

test('no start-page text on record: 404 no_data, at the top level', async () => {
  for (const query of ['silent.example', 'bare.example', 'unknown.example']) {
    assertRefused(await ask({ query }), 'similar', 'no_data')
  }
})

test('limit: 100 by default and at most; anything but a positive whole number counts as not sent', async () => {
  const names = Array.from({ length: 130 }, (_, index) => `parked-${String(index).padStart(3, '0')}.example`)
  await show(...names.map((name) => says(name, 'This name is for sale, inquire today!')))
  const query = names[7]!
  const others = names.toSpliced(7, 1)
  for (const [limit, applied] of [
    [undefined, 100],
    [1, 1],
    ['3', 3],
    [100, 100],
    [101, 100],
    [1e9, 100],
    [0, 100],
    [-1, 100],
    [2.5, 100],
    ['many', 100],
    ['', 100],
    [null, 100],
  ] as const) {
    const seen = await ask({ query, limit })
    const { meta } = seen.body as { meta: { count: number; limit: number; max_limit: number } }
    assert.deepEqual([meta.limit, meta.max_limit, meta.count], [applied, 100, applied], `limit ${limit}`)
    assert.deepEqual(
      rowsOf(seen),
      others.slice(0, applied).map((target) => ({ target, similarity: 1 })),
    )
  }
})

test('a changed page is found by its new text and not by its old one', async () => {
  await show(
    says('changing.example', 'Violins repaired locally.'),
    says('violin.example', 'Violins, mended, repaired.'),
  )
  await show(says('piano.example', 'Grand pianos tuned at home.'))
  assert.deepEqual(await namesFor('violin.example'), ['changing.example'])
  await show(says('changing.example', 'Pianos tuned at your home.', TODAY))
  assert.deepEqual(await namesFor('violin.example'), [])
  assert.deepEqual(await namesFor('piano.example'), ['changing.example'])
  assert.deepEqual(await namesFor('changing.example'), ['piano.example'])
})

test('a page is compared by its current text, even before the index has followed', async () => {
  await show(says('hurried.example', 'Fresh bread and cake, nothing else.'))
  await world.ingest(says('hurried.example', BREAD, '2026-11-20T00:00:00Z'))
  assert.deepEqual((await namesFor('hurried.example')).slice(0, 2), ['bread.example', 'twin-a.example'])
  await world.ingest(says('hurried.example', `${BREAD} Open all day.`, TODAY))
  const names = await namesFor('hurried.example')
  assert.deepEqual(names.slice(0, 2), ['bread.example', 'twin-a.example'])
  assert.ok(!names.includes('hurried.example'), 'nor is it among its own neighbours by what it said before')
  await show(look('hurried.example', { web: site() }, LATER))
})

test('a removed page and a removed website are no longer listed', async () => {
  const [asked, ...others] = ['m0', 'm1', 'm2', 'm3', 'm4'].map((label) => `${label}.example`) as [string, ...string[]]
  await show(...[asked, ...others].map((name) => says(name, MAPS)))
  assert.deepEqual(await namesFor(asked), others)
  await show(
    look('m1.example', { web: site() }, TODAY),
    look('m2.example', { web: site({ has_website: false, text: MAPS }) }, TODAY),
    look('m3.example', { dns: NXDOMAIN }, TODAY),
  )
  const listed = await namesFor(asked)
  assert.deepEqual(listed, ['m3.example', 'm4.example'], 'of a name that is gone the website stays as it was last seen')
  assertRefused(await ask({ query: 'm1.example' }), 'similar', 'no_data')
  for (const target of listed) {
    const { body } = await world.ask('lookup', { token, query: target })
    assert.equal((body as { result: { has_website: string } }).result.has_website, 'yes', target)
  }
})

test('a forgotten name disappears from every list at once', async () => {
  await show(
    ...['f0.example', 'f1.example', 'f2.example'].map((name) => says(name, 'Secret recipes, grandmother approved.')),
  )
  assert.deepEqual(await namesFor('f0.example'), ['f1.example', 'f2.example'])
  await world.store.observations.forget('f1.example' as never)
  assert.deepEqual(await namesFor('f0.example'), ['f2.example'])
  assertRefused(await ask({ query: 'f1.example' }), 'similar', 'no_data')
  await world.index()
  assert.deepEqual(await namesFor('f0.example'), ['f2.example'])
})

test('texts of any script are compared, ignoring letter case but not accents', async () => {
  await show(
    says('ja1.example', '東京の天気予報をお知らせします'),
    says('ja2.example', '東京の天気予報'),
    says('ru1.example', 'ПОГОДА в Москве'),
    says('ru2.example', 'погода в москве'),
    says('accent1.example', 'Résumé séché'),
    says('accent2.example', 'Resume seche'),
  )
  assert.deepEqual(await namesFor('ja2.example'), ['ja1.example'])
  assert.deepEqual(rowsOf(await ask({ query: 'ru1.example' })), [{ target: 'ru2.example', similarity: 1 }])
  assert.deepEqual(await namesFor('accent1.example'), [])
})

test('any plan', async () => {
  const premium = (await ask({ query: 'bread.example' })).body
  for (const plan of ['free', 'basic', 'premium'] as const) {
    const { token } = await world.account({ plan })
    const seen = await world.ask('similar', { token, query: 'bread.example' })
    assert.deepEqual([seen.status, seen.body], [200, premium])
  }
})

for (const [key, query] of [
  ['query_missing', undefined],
  ['query_missing', ''],
  ['domain_format', 'nodot'],
  ['domain_format', '192.0.2.1'],
  ['domain_format', ['a.example']],
] as const) {
  test(`400 ${key}, at the top level: ${JSON.stringify(query)}`, async () => {
    assertRefused(await ask({ query }), 'similar', key)
  })
}

test('/similar takes the same parameters in the query string', async () => {
  const get = (parameters: object) => world.ask('similar', { token, ...parameters }, { method: 'GET' })
  assertRefused(await get({}), 'similar', 'query_missing')
  assertRefused(await get({ query: 'unknown.example', limit: '5' }), 'similar', 'no_data')
  const [byGet, byPost] = [
    await get({ query: 'bread.example', limit: '3' }),
    await ask({ query: 'bread.example', limit: 3 }),
  ]
  assert.deepEqual([byGet.status, byGet.body], [200, byPost.body])
})

test('a response has no Observed-At, because it is about many pages', async () => {
  assert.equal((await ask({ query: 'bread.example' })).headers.get('Observed-At'), null)
})

test('similarity is the exact cosine of both pages over all words, and no similar page is missed', async () => {
  const small = await makeWorld()
  const words = Array.from({ length: 40 }, (_, index) => `word${index}`)
  const pages = Array.from({ length: 60 }, (_, page) => ({
    name: `p${String(page).padStart(2, '0')}.example`,
    text: words.filter((_, index) => (page * 7 + index * index) % 11 < 2 + (page % 3)).join(' ') || `alone${page}`,
  }))
  await small.ingest(...pages.map(({ name, text }) => says(name, text)))
  await small.index()
  const names = pages.map(({ name }) => name)
  const { neighbours } = findExactNeighbours(pages, names, 100)
  const { token } = await small.account({ plan: 'premium' })
  for (const query of names) {
    const right = neighbours.get(query)!.map(({ target, cosine }) => ({ target, similarity: cosine }))
    assert.deepEqual(rowsOf(await small.ask('similar', { token, query })), right, query)
  }
})
