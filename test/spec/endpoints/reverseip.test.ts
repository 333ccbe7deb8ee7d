/** /reverseip: the domains that share an IP address with a domain, or that are on an address. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertRefused } from '../errors.ts'
import { hosted, look, NXDOMAIN, ok, SERVFAIL, YESTERDAY } from '../observations.ts'
import { metaOf, pages, rowsOf } from '../walks.ts'
import { makeWorld, type Parameters } from '../world.ts'

const world = await makeWorld()
const { token } = await world.account({ plan: 'premium' })
const ask = (parameters: Parameters) => world.ask('reverseip', { token, ...parameters })

const SINCE = YESTERDAY.slice(0, 19)
const LIMITS = { limit: 1000, max_limit: 50_000, rcode: 200, msg: 'ok', next: null }

/** Addresses in the contract's order, which is not that of their texts. */
const IPS = ['9.0.0.1', '10.0.0.1', '2001:db8::9', '2001:db8::10']
await world.ingest(
  hosted('asked.example', IPS.toReversed()),
  hosted('b.example', ['10.0.0.1', '2001:db8::9']),
  hosted('a-b.example', ['10.0.0.1']),
  hosted('a.example', ['9.0.0.1', '10.0.0.1']),
)
const ROWS = [
  { target: 'a.example', ip: '9.0.0.1', since: SINCE },
  { target: 'a-b.example', ip: '10.0.0.1', since: SINCE },
  { target: 'a.example', ip: '10.0.0.1', since: SINCE },
  { target: 'b.example', ip: '10.0.0.1', since: SINCE },
  { target: 'b.example', ip: '2001:db8::9', since: SINCE },
]

test('with a domain, the neighbours on every address that it resolves to are returned, without the domain itself', async () => {
  const seen = await ask({ query: 'ASKED.example' })
  assert.equal(seen.status, 200)
  assert.deepEqual(seen.body, {
    meta: { query: 'asked.example', ips: IPS, ip_count: 4, ...LIMITS },
    result: ROWS,
  })
})

test('with an address, every domain on that address', async () => {
  const seen = await ask({ query: '10.0.0.1' })
  assert.equal(seen.status, 200)
  assert.deepEqual(seen.body, {
    meta: { query: '10.0.0.1', ips: ['10.0.0.1'], ip_count: 1, ...LIMITS },
    result: ['a-b.example', 'a.example', 'asked.example', 'b.example'].map((target) => ({
      target,
      ip: '10.0.0.1',
      since: SINCE,
    })),
  })
})

test('IPv6 in long or short form is the same query, and addresses are in shortest form', async () => {
  const short = await ask({ query: '2001:db8::9' })
  const long = await ask({ query: '2001:0DB8:0000:0000:0000:0000:0000:0009' })
  assert.deepEqual(long.body, short.body)
  assert.equal(metaOf(long).query, '2001:db8::9')
  const { next } = metaOf(await ask({ query: '2001:db8::9', limit: 1 }))
  const rest = await ask({ query: '2001:DB8:0::0:9', next })
  assert.deepEqual((rest.body as { result: unknown }).result, [ROWS[4]])
})

test('::ffff:1.2.3.4 is the IPv4 address', async () => {
  const plain = await ask({ query: '10.0.0.1' })
  for (const query of ['::ffff:10.0.0.1', '::FFFF:a00:1', '0:0:0:0:0:ffff:10.0.0.1']) {
    assert.deepEqual((await ask({ query })).body, plain.body)
  }
})

for (const limit of [1, 2, 3, 4, 5, 6]) {
  test(`paging by ${limit} lists one address after another, and a page may end within an address`, async () => {
    const seen = await pages(world, 'reverseip', { token, query: 'asked.example', limit })
    assert.equal(seen.length, Math.ceil(ROWS.length / limit))
    assert.deepEqual(
      seen.flatMap(({ body }) => (body as { result: object[] }).result),
      ROWS,
    )
    for (const page of seen) {
      const { next, ...meta } = metaOf(page)
      const expected = {
        query: 'asked.example',
        ips: IPS,
        ip_count: 4,
        limit,
        max_limit: 50_000,
        rcode: 200,
        msg: 'ok',
      }
      assert.deepEqual(meta, expected)
      assert.equal(next === null, page === seen.at(-1))
    }
    const byAddress = await rowsOf<{ target: string }>(world, 'reverseip', { token, query: '10.0.0.1', limit })
    assert.deepEqual(
      byAddress.map(({ target }) => target),
      ['a-b.example', 'a.example', 'asked.example', 'b.example'],
    )
  })
}

test('known with addresses but alone: 200, empty result, meta.ips filled', async () => {
  await world.ingest(hosted('alone.example', ['203.0.113.77']))
  const seen = await ask({ query: 'alone.example' })
  assert.equal(seen.status, 200)
  assert.deepEqual(seen.body, {
    meta: { query: 'alone.example', ips: ['203.0.113.77'], ip_count: 1, ...LIMITS },
    result: [],
  })
})

test('404 no_data: nothing on record', async () => {
  await world.ingest(
    look('bare.example'),
    look('nodns.example', { dns: ok({ A: [], AAAA: [] }) }),
    look('failing.example', { dns: SERVFAIL }),
    look('missing.example', { dns: NXDOMAIN }),
  )
  const queries = ['bare', 'nodns', 'failing', 'missing', 'unknown'].map((label) => `${label}.example`)
  for (const query of [...queries, '203.0.113.99', '2001:db8::99']) {
    assertRefused(await ask({ query }), 'reverseip', 'no_data')
  }
})

test('only the current state: a domain that moved or stopped resolving drops out, and earlier addresses are not included', async () => {
  const domains = ['moves.example', 'ends.example', 'leaves.example', 'fails.example']
  await world.ingest(
    hosted('here.example', ['203.0.113.5']),
    ...domains.map((domain) => hosted(domain, ['203.0.113.5'])),
  )
  const now = '2026-11-20T03:00:00Z'
  await world.ingest(
    hosted('moves.example', ['203.0.113.6'], now),
    hosted('ends.example', [], now),
    look('leaves.example', { dns: NXDOMAIN }, now),
    look('fails.example', { dns: SERVFAIL }, now),
  )
  assert.deepEqual(await rowsOf(world, 'reverseip', { token, query: 'here.example' }), [])
  assert.deepEqual(metaOf(await ask({ query: 'moves.example' })).ips, ['203.0.113.6'])
})

test('since: when this domain first appeared on this address, even if it left and returned', async () => {
  const at = (day: number) => `2026-11-0${day}T04:05:06Z`
  await world.ingest(hosted('returns.example', ['203.0.113.8'], at(1)))
  await world.ingest(hosted('returns.example', ['203.0.113.9'], at(2)))
  await world.ingest(hosted('returns.example', ['203.0.113.8', '203.0.113.9'], at(3)))
  await world.ingest(
    look('returns.example', { dns: NXDOMAIN }, at(4)),
    hosted('returns.example', ['203.0.113.8'], at(5)),
  )
  const rows = await rowsOf(world, 'reverseip', { token, query: '203.0.113.8' })
  assert.deepEqual(rows, [{ target: 'returns.example', ip: '203.0.113.8', since: '2026-11-01T04:05:06' }])
})

test('last_seen is no longer returned', async () => {
  assert.doesNotMatch((await ask({ query: 'asked.example' })).text, /last_seen/)
})

test('a page reached by a cursor never answers 404: an empty result and next null', async () => {
  await world.ingest(...['p', 'q'].map((label) => hosted(`${label}.example`, ['203.0.113.20'])))
  const queries = ['p.example', '203.0.113.20']
  await world.ingest(hosted('r.example', ['203.0.113.20']))
  const cursors = await Promise.all(queries.map(async (query) => metaOf(await ask({ query, limit: 1 })).next))
  const leave = ['p', 'q', 'r'].map((label) => hosted(`${label}.example`, [], '2026-11-20T05:00:00Z'))
  await world.ingest(...leave)
  for (const [index, query] of queries.entries()) {
    const ips = query === 'p.example' ? [] : ['203.0.113.20']
    const seen = await ask({ query, next: cursors[index] })
    assert.equal(seen.status, 200)
    assert.deepEqual(seen.body, { meta: { query, ips, ip_count: ips.length, ...LIMITS }, result: [] })
    assertRefused(await ask({ query }), 'reverseip', 'no_data')
  }
})

for (const [key, query] of [
  ['query_missing', undefined],
  ['query_missing', ''],
  ['domain_format', 'nodot'],
  ['domain_format', 'example[.]com'],
  ['domain_format', '192.0.2.1-192.0.2.9'],
  ['domain_format', '300.1.2.3'],
  ['domain_format', '10.0.0.1:80'],
  ['domain_format', '10.0.0.0/8'],
  ['domain_format', '[2001:db8::9]'],
  ['domain_format', '2001:db8::/32'],
  ['domain_format', 'fe80::1%eth0'],
  ['domain_format', '2001:db8:::9'],
  ['domain_format', '127.1'],
  ['domain_format', '10.0.0.01'],
  ['domain_format', 'http://10.0.0.1'],
  ['domain_format', { ip: '10.0.0.1' }],
] as const) {
  test(`400 ${key}, nested inside result: ${JSON.stringify(query)} is neither domain nor IP address`, async () => {
    assertRefused(await ask({ query }), 'reverseip', key)
  })
}

for (const [query, advice] of [
  ['192.0.2.0/24', /one address at a time, not a range; send each address by itself, such as 192\.0\.2\.0\.$/],
  ['2001:0db8::/32', /not a range; send each address by itself, such as 2001:db8::\.$/],
  ['192.0.2.0/255.255.255.0', /not a range; .* such as 192\.0\.2\.0\.$/],
  ['192.0.2.1 - 192.0.2.9', /not a range; .* such as 192\.0\.2\.1\.$/],
  ['192.0.2.*', /not a range; send each address by itself\.$/],
  ['127.020.0.4', /an IPv4 address is four numbers from 0 to 255 without leading zeros, such as 192\.0\.2\.1\.$/],
  ['1.2.3', /an IPv4 address is four numbers/],
  ['256.1.1.1', /an IPv4 address is four numbers/],
  ['192.0.2[.]1', /the address is defanged; send 192\.0\.2\.1\.$/],
  ['hxxp://192.0.2.1/x', /the address is defanged; send 192\.0\.2\.1\.$/],
  ['https://[2001:db8::1]:8443/x', /a scheme does not belong to the address; send 2001:db8::1\.$/],
  ['192.0.2.1:80', /send 192\.0\.2\.1\.$/],
  ['[2001:db8::1]:80', /send 2001:db8::1\.$/],
  ['fe80::1%eth0', /a zone does not belong to the address; send fe80::1\.$/],
  ['hxxps://example[.]com/', /the name is defanged; send example\.com\.$/],
  [`192.0.2.1${' '.repeat(50_000)}x`, /white space/],
] as const) {
  test(`msg says what to send instead: ${query.slice(0, 40)}`, async () => {
    assert.match(assertRefused(await ask({ query }), 'reverseip', 'domain_format'), advice)
  })
}
