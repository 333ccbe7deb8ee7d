/** Tests the output of massdns in its three modes: what it reports about names, and what is rejected. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { massdnsFormat } from '../../../src/import/formats/massdns.ts'
import { dnsOf, NOON, NOT_HERE, read, sample, standsHostileLines, whyRefused } from './reading.ts'

const SECONDS = 1_582_650_534
const WHEN = '2020-02-25T17:08:54Z'

/** An entry of full text. `sections` are its records after the question. */
function full(question: string, status: string, sections: Record<string, string[]>, flags = 'qr rd ra '): string[] {
  const records = Object.entries(sections).flatMap(([section, lines]) => ['', `;; ${section} SECTION:`, ...lines])
  return [
    ';; Server: 192.0.2.53:53',
    ';; Size: 134',
    `;; Unix time: ${SECONDS}`,
    `;; ->>HEADER<<- opcode: QUERY, status: ${status}, id: 44677`,
    `;; flags: ${flags}; QUERY: 1, ANSWER: 1, AUTHORITY: 0, ADDITIONAL: 0`,
    '',
    ';; QUESTION SECTION:',
    question,
    ...records,
    '',
    '',
  ]
}

/** A line of JSON whose time in nanoseconds keeps its digits. */
function json(given: object, nanoseconds = `${SECONDS}999999000`): string {
  const line = JSON.stringify({
    name: 'example.com.',
    class: 'IN',
    type: 'A',
    status: 'NOERROR',
    flags: ['rd', 'ra'],
    ...given,
  })
  return line.replace('"flags"', `"rx_ts":${nanoseconds},"flags"`)
}

const record = (type: string, data: string, name = 'example.com.') => ({ ttl: 300, type, class: 'IN', name, data })

test('full text: the question, the records at the end of its aliases, the time', () => {
  const lines = [
    ...full('Example.com. IN A', 'NOERROR', {
      ANSWER: [
        'example.com. 300 IN CNAME a.example.net.',
        'a.example.net. 300 IN A 192.0.2.2',
        'a.example.net. 300 IN A 192.0.2.1',
      ],
      AUTHORITY: ['example.net. 300 IN NS ns1.example.net.'],
      ADDITIONAL: ['ns1.example.net. 300 IN A 192.0.2.53'],
    }),
    ...full('example.org. IN TXT', 'NOERROR', {
      ANSWER: ['example.org. 300 IN TXT "part \\x22one\\x22 \\xc3\\xa4" "part "two" \\x5c" '],
    }),
  ]
  assert.deepEqual(read(massdnsFormat, lines), {
    observations: [
      { domain: 'example.com', observed_at: WHEN, dns: { status: 'ok', A: ['192.0.2.1', '192.0.2.2'] } },
      { domain: 'example.org', observed_at: WHEN, dns: { status: 'ok', TXT: [['part "one" ä', 'part "two" \\\\']] } },
    ],
    sightings: read(massdnsFormat, lines).sightings,
    refused: [],
    passedOver: 0,
  })
})

for (const [what, lines, dns] of [
  [
    'a missing name',
    full('example.com. IN A', 'NXDOMAIN', { AUTHORITY: ['com. 300 IN SOA a. b. 1 2 3 4 5'] }),
    { status: 'nxdomain' },
  ],
  [
    'a type that is absent',
    full('example.com. IN MX', 'NOERROR', { AUTHORITY: ['example.com. 300 IN SOA a. b. 1 2 3 4 5'] }),
    { status: 'ok', MX: [] },
  ],
  [
    'a mail server',
    full('example.com. IN MX', 'NOERROR', { ANSWER: ['example.com. 300 IN MX 10 mx.example.com.'] }),
    { status: 'ok', MX: [{ priority: 10, mail_server: 'mx.example.com' }] },
  ],
  [
    'unusual bytes in a host',
    full('example.com. IN NS', 'NOERROR', { ANSWER: ['example.com. 300 IN NS a\\x2eb\\xff.example.'] }),
    { status: 'ok', NS: ['a\\.b\\255.example'] },
  ],
] as const) {
  test(`full text: ${what}`, () => assert.deepEqual(dnsOf(massdnsFormat, ...lines), dns))
}

test('full text: only name servers, from a server without authority, are a referral and report nothing', () => {
  const lines = full('example.com. IN A', 'NOERROR', { AUTHORITY: ['com. 300 IN NS a.example.'] }, 'qr ')
  assert.deepEqual([read(massdnsFormat, lines).observations, read(massdnsFormat, lines).refused], [[], []])
})

test('a truncated answer reports nothing', () => {
  const lines = full('example.com. IN A', 'NOERROR', { ANSWER: ['example.com. 300 IN A 192.0.2.1'] }, 'qr rd ra tc ')
  const line = json({ data: { answers: [record('A', '192.0.2.1')] }, flags: ['tc', 'ra'] })
  assert.deepEqual([read(massdnsFormat, lines).passedOver, read(massdnsFormat, [line]).passedOver], [1, 1])
})

test('full text: an entry is rejected at the invalid line, and the rest of it is skipped', () => {
  const good = full('example.org. IN A', 'NOERROR', { ANSWER: ['example.org. 300 IN A 192.0.2.1'] })
  for (const [old, wrong, line, reason] of [
    ['example.org. IN A', 'example_org IN A', 8, /^question: the name has no dot/],
    ['example.org. IN A', 'example.org.', 8, /^question: must be a name, a class and a type$/],
    [';; Unix time: 1582650534', '', 8, /carries no time/],
    ['example.org. 300 IN A 192.0.2.1', 'example.org. 192.0.2.1', 11, /^record: must be a name, a time to live/],
    ['example.org. 300 IN A 192.0.2.1', 'example.org. 300 IN A ::1', 13, /^answer: A\[0\]: must be an IPv4 address$/],
  ] as const) {
    const { refused, observations } = read(massdnsFormat, [
      ...good.map((each) => (each === old ? wrong : each)),
      ...good,
    ])
    assert.deepEqual([refused.length, refused[0]?.[0], observations.length], [1, line, 1], wrong)
    assert.match(refused[0]![1], reason)
  }
  assert.match(read(massdnsFormat, good.slice(0, 6)).refused[0]![1], /^question: is missing$/)
})

test('JSON: the question, the answer, the nanoseconds', () => {
  const line = json({
    data: { answers: [record('CNAME', 'a.example.net.'), record('A', '192.0.2.1', 'a.example.net.')] },
  })
  assert.deepEqual(read(massdnsFormat, [line]).observations, [
    { domain: 'example.com', observed_at: WHEN, dns: { status: 'ok', A: ['192.0.2.1'] } },
  ])
})

test('JSON: the parts of a text are joined, and are split again after every 255 bytes', () => {
  const [one, two] = ['ä'.repeat(127), '\\xc3\\xa4 and more']
  const line = json({ type: 'TXT', data: { answers: [record('TXT', one + two), record('TXT', '"short" text ')] } })
  assert.deepEqual(dnsOf(massdnsFormat, line), {
    status: 'ok',
    TXT: [['"short" text '], [`${one}\\195`, '\\164 and more']],
  })
})

test('JSON: a status, and queries that were given up', () => {
  assert.deepEqual(dnsOf(massdnsFormat, json({ status: 'NXDOMAIN', data: {} })), { status: 'nxdomain' })
  assert.deepEqual(dnsOf(massdnsFormat, json({ status: 'SERVFAIL' }), json({ status: 'REFUSED', type: 'AAAA' })), {
    status: 'servfail',
  })
  const givenUp = (type: string) => JSON.stringify({ name: 'example.com.', type, class: 'IN', error: 'TIMEOUT' })
  assert.equal(read(massdnsFormat, [givenUp('A'), givenUp('AAAA')]).passedOver, 2)
  const { observations } = read(massdnsFormat, [givenUp('A'), givenUp('AAAA')], NOON)
  assert.deepEqual(observations, [
    { domain: 'example.com', observed_at: '2026-11-20T12:00:00Z', dns: { status: 'servfail' } },
  ])
})

test('JSON: another type is skipped, and an invalid line is rejected', () => {
  assert.equal(read(massdnsFormat, [json({ type: 'CAA', data: {} }), json({ type: 'TYPE65', data: {} })]).passedOver, 2)
  for (const [line, reason] of [
    [json({ name: 'com.' }), /^name: the name has no dot/],
    [json({ type: 1 }), /^type: must be a text$/],
    [json({ status: 0 }), /^status: must be a text$/],
    [json({}, '"x"'), /^rx_ts: must be a Unix time in nanoseconds$/],
    [json({}, '1e300'), /^rx_ts: /],
    [json({}).replace('"rx_ts"', '"other"'), /carries no time/],
    [
      json({ type: 'MX', data: { answers: [record('MX', 'mx.example.com.')] } }),
      /^data\.answers: MX\[0\]: must be an object$/,
    ],
  ] as const)
    assert.match(whyRefused(massdnsFormat, line), reason)
})

test('simple text: the records of an answer are consecutive, and a time must be given', () => {
  const lines = [
    'www.example.com. CNAME example.com.',
    'example.com. A 192.0.2.1',
    'example.com. A 192.0.2.2',
    'example.com. A 192.0.2.2', // already the answer to another question
    'example.com. A 192.0.2.1',
    'example.org. MX 10 mx.example.org.',
    '',
    'example.org. MX 20 mx2.example.org.',
    'alias.example.org. CNAME example.org.',
  ]
  assert.match(whyRefused(massdnsFormat, lines[1]!), /carries no time/)
  const { observations, refused } = read(massdnsFormat, lines, NOON)
  assert.deepEqual(refused, [])
  const seen = Object.fromEntries(
    (observations as { domain: string; dns: object }[]).map(({ domain, dns }) => [domain, dns]),
  )
  assert.deepEqual(seen, {
    'www.example.com': { status: 'ok', A: ['192.0.2.1', '192.0.2.2'] },
    'example.com': { status: 'ok', A: ['192.0.2.1', '192.0.2.2'] },
    'example.org': { status: 'ok', MX: [{ priority: 10, mail_server: 'mx.example.org' }] },
    'alias.example.org': { status: 'ok', CNAME: ['example.org'] },
  })
})

for (const [what, lines, dns] of [
  [
    'with questions, resolver, time and status',
    [
      '192.0.2.53:53 1582650534 NOERROR example.com. IN A',
      'example.com. IN 300 CNAME a.example.',
      'a.example. IN 300 A 192.0.2.1',
    ],
    { status: 'ok', A: ['192.0.2.1'] },
  ],
  [
    'without class, and indented',
    ['[2001:db8::53]:53 1582650534 NOERROR example.com.  TXT', '\texample.com. TXT "a" "b" '],
    { status: 'ok', TXT: [['a', 'b']] },
  ],
  ['a missing name', ['192.0.2.53:53 1582650534 NXDOMAIN example.com.  A'], { status: 'nxdomain' }],
  ['a type that is absent', ['192.0.2.53:53 1582650534 NOERROR example.com. IN AAAA', ''], { status: 'ok', AAAA: [] }],
] as const) {
  test(`simple text: ${what}`, () => assert.deepEqual(dnsOf(massdnsFormat, ...lines), dns))
}

test('simple text: a question without status and records reports nothing', () => {
  const { observations, passedOver } = read(
    massdnsFormat,
    ['example.com. IN A', 'example.org.  A', 'example.org. A 192.0.2.1'],
    NOON,
  )
  assert.deepEqual([passedOver, observations.length], [1, 1])
})

test('simple text: an invalid line is rejected', () => {
  for (const [line, reason] of [
    ['example.com. 8.8.4.4:53', /^must be a name, a type and data$/],
    ['com. A 192.0.2.1', /^the name has no dot/],
    ['example.com. A x', /^A\[0\]: must be an IPv4 address$/],
  ] as const)
    assert.match(whyRefused(massdnsFormat, line, NOON), reason)
})

standsHostileLines(massdnsFormat, [
  json({ data: { answers: [record('A', '192.0.2.1'), record('TXT', 'a')], authorities: [record('SOA', 'x')] } }),
  json({ type: 'SOA', data: { answers: [record('SOA', 'a. b. 1 2 3 4 5')] } }),
])

test('hostile text is rejected or reports nothing, and never throws', () => {
  const good = full('example.com. IN TXT', 'NOERROR', { ANSWER: ['example.com. 300 IN TXT "a"'] })
  for (const [index, line] of good.entries())
    for (const bad of [
      '\0',
      ' ',
      '"'.repeat(1_000_000),
      `${line} ${'" "'.repeat(300_000)}`,
      `${line}${'\\x'.repeat(500_000)}`,
      line.slice(0, -1),
    ])
      read(massdnsFormat, good.with(index, bad))
  for (const start of ['x 1 A x ', 'x 1 ', 'x ', '', 'x IN 1 '])
    for (const unit of ['A', '1', 'A ', ' ', '1 ', '\t'])
      read(massdnsFormat, [`${start}${unit.repeat(1_048_000 / unit.length)}!`], NOON)
  const many = Array.from({ length: 3000 }, (_, number) => `example.com. 300 IN A 192.0.2.${number % 256}`)
  assert.match(
    read(massdnsFormat, full('example.com. IN A', 'NOERROR', { ANSWER: many })).refused[0]![1],
    /over the 2000th/,
  )
  const simple = many.map((_, number) => `example.com. A 192.0.${number >> 8}.${number & 255}`)
  assert.match(read(massdnsFormat, simple, NOON).refused[0]![1], /over the 2000th/)
})

const outputs = sample('massdns/expected-outputs.txt')
test('the outputs that the tests of massdns expect are read', { skip: outputs === null && NOT_HERE }, () => {
  const entries = outputs!.split(/^# .*$/m).filter((each) => each.includes('HEADER'))
  const lines = entries.flatMap((each) => each.replaceAll('[0-9]+', String(SECONDS)).split('\n'))
  const end = lines.findIndex((line) => line.startsWith('46:'))
  const { sightings, refused } = read(massdnsFormat, lines.slice(0, end))
  assert.deepEqual(refused, [])
  const seen = { name: 'google-public-dns-a.google.com', at: SECONDS, kind: 'queried', type: 'A' }
  const answer = { outcome: 'records', records: ['8.8.8.8'], aliases: [] }
  assert.deepEqual(
    sightings,
    [1, 2, 3].map(() => ({ ...seen, answer })),
  )
})
