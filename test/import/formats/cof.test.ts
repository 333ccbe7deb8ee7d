/**
 * Tests passive DNS in the Common Output Format: the meaning of a row, how rows become states, and what is rejected.
 */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cofFormat } from '../../../src/import/formats/cof.ts'
import { formatInstant } from '../../../src/values/time.ts'
import { NOON, NOT_HERE, read, sample, standsHostileLines, whyRefused } from './reading.ts'

type Given = Record<string, unknown>

const row = (given: Given = {}) =>
  JSON.stringify({
    count: 1,
    time_first: 1000,
    time_last: 2000,
    rrname: 'example.com.',
    rrtype: 'A',
    rdata: '192.0.2.1',
    ...given,
  })

/** The states that rows give: for each time the records of the type. */
function statesOf(type: string, ...rows: Given[]): [number, unknown][] {
  const lines = rows.map((given) => row({ rrtype: type, ...given }))
  const { observations, refused } = read(cofFormat, lines)
  assert.deepEqual(refused, [])
  return (observations as { observed_at: string; dns: Given }[]).map(({ observed_at, dns }) => {
    assert.equal(dns.status, 'ok')
    return [Date.parse(observed_at) / 1000, dns[type]]
  })
}

test('a row is first seen at its first second and confirmed at its last', () => {
  assert.deepEqual(statesOf('A', {}), [
    [1000, ['192.0.2.1']],
    [2000, ['192.0.2.1']],
  ])
  assert.deepEqual(statesOf('A', { time_last: 1000 }), [[1000, ['192.0.2.1']]])
})

test('records that are valid at the same time are one set, whether they are in one row or in several', () => {
  const both = ['192.0.2.1', '192.0.2.2']
  const expected = [
    [1000, both],
    [2000, both],
  ]
  assert.deepEqual(statesOf('A', { rdata: both.toReversed() }), expected)
  assert.deepEqual(statesOf('A', { rdata: both[0] }, { rdata: both[1] }), expected)
  assert.deepEqual(statesOf('A', { rdata: both }, { rdata: both[0] }, { rdata: [both[1]] }), expected)
})

test('if rows overlap, each interval has the records that are valid in it, from its first second to its last', () => {
  assert.deepEqual(
    statesOf(
      'A',
      { rdata: '192.0.2.1', time_first: 1, time_last: 10 },
      { rdata: '192.0.2.2', time_first: 5, time_last: 20 },
    ),
    [
      [1, ['192.0.2.1']],
      [4, ['192.0.2.1']],
      [5, ['192.0.2.1', '192.0.2.2']],
      [10, ['192.0.2.1', '192.0.2.2']],
      [11, ['192.0.2.2']],
      [20, ['192.0.2.2']],
    ],
  )
})

test('for a time without rows nothing is reported', () => {
  assert.deepEqual(
    statesOf('A', { time_first: 30, time_last: 40 }, { time_first: 1, time_last: 2, rdata: '192.0.2.9' }),
    [
      [1, ['192.0.2.9']],
      [2, ['192.0.2.9']],
      [30, ['192.0.2.1']],
      [40, ['192.0.2.1']],
    ],
  )
})

test('a name has one alias and one SOA at a time: the one that started last', () => {
  const rows = [
    { rdata: 'a.example.', time_first: 1, time_last: 10 },
    { rdata: 'b.example.', time_first: 5, time_last: 8 },
  ]
  assert.deepEqual(statesOf('CNAME', ...rows), [
    [1, ['a.example']],
    [4, ['a.example']],
    [5, ['b.example']],
    [8, ['b.example']],
    [9, ['a.example']],
    [10, ['a.example']],
  ])
})

test('times are Unix seconds or RFC 3339, and those of zone files and in milliseconds also count', () => {
  assert.deepEqual(statesOf('A', { time_first: '2018-03-27T10:43:28Z', time_last: 1_522_147_500.9 })[1], [
    1_522_147_500,
    ['192.0.2.1'],
  ])
  const zone = { time_first: undefined, time_last: undefined, zone_time_first: 5, zone_time_last: 6 }
  assert.deepEqual(
    statesOf('A', zone).map(([at]) => at),
    [5, 6],
  )
  const both = statesOf('A', { zone_time_first: 5000, zone_time_last: 6000 })
  assert.deepEqual(
    both.map(([at]) => at),
    [1000, 2000, 5000, 6000],
  )
  assert.deepEqual(
    statesOf('A', { time_first_ms: 1_000_900, time_last_ms: 2_000_100 }).map(([at]) => at),
    [1000, 2000],
  )
})

for (const [type, rdata, expected] of [
  ['AAAA', 'C0A8:101::', 'c0a8:101::'],
  ['NS', 'NS1.example.com.', 'ns1.example.com'],
  ['MX', '10  Mail.example.com.', { priority: 10, mail_server: 'mail.example.com' }],
  ['TXT', '"v=spf1 -all"', ['v=spf1 -all']],
  ['TXT', '"part \\"one\\" " "part \\195\\164;"', ['part "one" ', 'part ä;']],
  ['TXT', 'v=spf1 \\; -all', ['v=spf1 ; -all']],
  [
    'SOA',
    'ns1.example.com. host\\.master.example.com. 1 2 3 4 5',
    {
      primary_nameserver: 'ns1.example.com',
      admin_email: 'host.master@example.com',
      serial: 1,
      refresh_seconds: 2,
      retry_seconds: 3,
      expire_seconds: 4,
      minimum_ttl_seconds: 5,
    },
  ],
] as const) {
  test(`${type} is read as it is printed: ${rdata}`, () =>
    assert.deepEqual(statesOf(type, { rdata })[0], [1000, [expected]]))
}

test('types that are not stored are skipped, whatever their name', () => {
  const rows = ['SRV', 'PTR', 'RRSIG', 'TYPE65', 65].map((rrtype) => row({ rrtype, rrname: '*.com' }))
  assert.deepEqual([read(cofFormat, rows).passedOver, read(cofFormat, rows).refused], [5, []])
  assert.equal(read(cofFormat, [row({ rrtype: 'a' })]).observations.length, 2)
})

test('an invalid row is rejected with the field', () => {
  for (const [line, reason] of [
    ['{"rrname"', /^must be JSON: /],
    [row({ rrtype: null }), /^rrtype: must be a text or a number$/],
    [row({ rrname: 'com.' }), /^rrname: the name has no dot/],
    [row({ rdata: undefined }), /^rdata: must be a text or a list of texts$/],
    [row({ rdata: [] }), /^rdata: must be a text or a list of texts$/],
    [row({ rdata: ['192.0.2.1', 7] }), /^rdata: must be a text or a list of texts$/],
    [row({ rdata: ['192.0.2.1', '192.0.2.256'] }), /^rdata: A\[1\]: must be an IPv4 address$/],
    [row({ rrtype: 'MX', rdata: 'mail.example.com.' }), /^rdata: MX\[0\]: must be an object$/],
    [row({ rrtype: 'SOA', rdata: 'a. b. 1 2 3 4 5 6' }), /^rdata: SOA\[0\]: must be an object$/],
    [
      row({ rdata: Array.from({ length: 257 }, (_, last) => `192.0.2.${last % 256}`) }),
      /^rdata: A: must hold at most 256 records$/,
    ],
    [row({ time_first: '2018' }), /^time_first: must be a Unix time or an RFC 3339 time$/],
    [row({ time_last: undefined }), /^time_last: must be a Unix time or an RFC 3339 time$/],
    [row({ time_last: -1 }), /^time_last: must be/],
    [row({ time_first: 3000 }), /^time_last: is before time_first$/],
    [row({ time_first: undefined, time_last: undefined }), /carries no time/],
  ] as const)
    assert.match(whyRefused(cofFormat, line), reason)
  const [observation] = read(cofFormat, [row({ time_first: undefined, time_last: undefined })], NOON).observations
  assert.equal((observation as { observed_at: string }).observed_at, `${formatInstant(NOON)}Z`)
})

test('of more than 256 addresses at once, the first in canonical order are kept', () => {
  const rows = Array.from({ length: 1200 }, (_, index) => ({ rdata: `10.0.${index >> 8}.${index & 255}` }))
  const [first, last] = statesOf('A', ...rows)
  assert.deepEqual([(first![1] as []).length, (first![1] as string[])[0], last![0]], [256, '10.0.0.0', 2000])
})

standsHostileLines(cofFormat, [
  row({ rdata: ['192.0.2.1'] }),
  row({ rrtype: 'TXT', rdata: '"a" "b"' }),
  row({ rrtype: 'SOA', rdata: 'a. b. 1 2 3 4 5' }),
])

const circl = sample('cof/circl-data.jsonl')
test('the rows of CIRCL are two states of one alias', { skip: circl === null && NOT_HERE }, () => {
  const seen = read(cofFormat, circl!.trim().split('\n')).observations as { observed_at: string; dns: Given }[]
  assert.deepEqual(
    seen.map(({ observed_at, dns }) => [observed_at, dns.CNAME]),
    [
      ['2011-09-09T16:40:09Z', ['cpa.circl.lu']],
      ['2015-12-08T09:26:39Z', ['cpa.circl.lu']],
      ['2015-12-08T14:24:20Z', ['cpab.circl.lu']],
      ['2021-04-06T02:29:11Z', ['cpab.circl.lu']],
    ],
  )
})

const dnstable = sample('cof/dnstable-tests.jsonl')
test('the rows of dnstable are read, and its one name with a single label is rejected', {
  skip: dnstable === null && NOT_HERE,
}, () => {
  const { observations, refused, passedOver } = read(cofFormat, dnstable!.trim().split('\n'))
  assert.deepEqual([refused.map(([line]) => line), passedOver], [[33], 3])
  const dns = Object.fromEntries(
    (observations as { domain: string; dns: Given }[]).map((each) => [each.domain, each.dns]),
  )
  assert.deepEqual(dns['www.example.com'], {
    status: 'ok',
    interrupted: ['A', 'AAAA'],
    A: ['198.51.100.3', '198.51.100.4'],
    AAAA: ['2001:db8::1', '2001:db8::2'],
  })
  assert.deepEqual(dns['example.com']?.MX, [
    { priority: 10, mail_server: 'mail.example.com' },
    { priority: 20, mail_server: 'mail2.example.com' },
  ])
  assert.deepEqual(dns['alpha.sl.dom']?.NS, ['ns1.sl.com', 'ns2.sl.dom', 'ns4.sub4.sl.com'])
})
