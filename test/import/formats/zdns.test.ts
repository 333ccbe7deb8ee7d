/** Tests lines of zdns in the old layout and the new: what they report about their name, and what is rejected. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { zdnsFormat } from '../../../src/import/formats/zdns.ts'
import { dnsOf, NOON, NOT_HERE, read, sample, standsHostileLines, whyRefused } from './reading.ts'

type Given = Record<string, unknown>

const TIME = '2024-08-23T13:12:43-04:00'
const SOA = { type: 'SOA', name: 'example.com' }

const lineOf = (results: Given, given: Given = {}) => JSON.stringify({ name: 'example.com', ...given, results })
const result = (status: string, data: Given = {}, timestamp = TIME) => ({ status, data, timestamp, duration: 0.1 })
const found = (...answers: Given[]) =>
  result('NOERROR', { answers: answers.map((each) => ({ class: 'IN', name: 'example.com', ttl: 300, ...each })) })
const a = (answer: string, name = 'example.com') => ({ type: 'A', answer, name })
const cname = (name: string, answer: string) => ({ type: 'CNAME', name, answer })

test('every module of one of the seven types is a queried type, and a line may have several', () => {
  const line = lineOf({
    A: found(a('192.0.2.2'), a('192.0.2.1')),
    AAAA: found({ type: 'AAAA', answer: '2001:DB8::1' }),
    MX: found({ type: 'MX', answer: 'Mx.example.net.', preference: 10 }),
    NS: found({ type: 'NS', answer: 'ns1.example.net.' }),
    TXT: found({ type: 'TXT', answer: 'one, \\"quoted\\", \\\\ \\195\\164\ntwo' }),
    CNAME: found(),
    SOA: found({
      type: 'SOA',
      ns: 'ns1.example.net',
      mbox: 'john\\.doe.example.net',
      serial: 2,
      refresh: 21_600,
      retry: 3600,
      expire: 259_200,
      min_ttl: 300,
    }),
  })
  assert.deepEqual(dnsOf(zdnsFormat, line), {
    status: 'ok',
    A: ['192.0.2.1', '192.0.2.2'],
    AAAA: ['2001:db8::1'],
    MX: [{ priority: 10, mail_server: 'mx.example.net' }],
    TXT: [['one, "quoted", \\\\ ä', 'two']],
    NS: ['ns1.example.net'],
    SOA: [
      {
        primary_nameserver: 'ns1.example.net',
        admin_email: 'john.doe@example.net',
        serial: 2,
        refresh_seconds: 21_600,
        retry_seconds: 3600,
        expire_seconds: 259_200,
        minimum_ttl_seconds: 300,
      },
    ],
    CNAME: [],
  })
})

test('the time is that of the module, in UTC', () => {
  const { observations } = read(zdnsFormat, [lineOf({ A: found(a('192.0.2.1')) })])
  assert.deepEqual(observations, [
    { domain: 'example.com', observed_at: '2024-08-23T17:12:43Z', dns: { status: 'ok', A: ['192.0.2.1'] } },
  ])
})

test('if zdns altered the name, the altered one is the queried name', () => {
  const { sightings } = read(zdnsFormat, [lineOf({ A: found() }, { altered_name: 'WWW.example.com.' })])
  assert.equal(sightings[0]?.name, 'www.example.com')
})

for (const [what, results, dns] of [
  [
    'addresses are those at the end of the aliases',
    {
      A: found(
        a('192.0.2.9', 'b.example.net'),
        cname('example.com', 'A.example.net.'),
        cname('a.example.net', 'b.example.net'),
        a('192.0.2.7', 'other.example'),
      ),
    },
    { status: 'ok', A: ['192.0.2.9'] },
  ],
  [
    'mail servers of an alias target are not those of the name',
    {
      MX: found(cname('example.com', 'a.example.net'), {
        type: 'MX',
        name: 'a.example.net',
        answer: 'mx.example.net',
        preference: 5,
      }),
    },
    { status: 'ok', MX: [] },
  ],
  [
    'an alias whose target does not exist has no address',
    { A: result('NXDOMAIN', { answers: [cname('example.com', 'a.example')] }) },
    { status: 'ok', A: [] },
  ],
  [
    'an alias whose target has no address',
    { A: result('NOERROR', { answers: [cname('example.com', 'a.example')], authorities: [SOA] }) },
    { status: 'ok', A: [] },
  ],
  [
    'the alias itself is stored if it was queried',
    { CNAME: found(cname('example.com', 'a.example.')) },
    { status: 'ok', CNAME: ['a.example'] },
  ],
  ['a missing name is nxdomain', { A: result('NXDOMAIN'), MX: result('NXDOMAIN') }, { status: 'nxdomain' }],
  [
    'a type that failed is left out',
    { A: found(a('192.0.2.1')), MX: result('TIMEOUT'), NS: result('SERVFAIL') },
    { status: 'ok', A: ['192.0.2.1'] },
  ],
  [
    'neither A nor AAAA answered is servfail',
    { A: result('TIMEOUT'), AAAA: result('REFUSED') },
    { status: 'servfail' },
  ],
  [
    'records of another class are ignored',
    { TXT: found({ type: 'TXT', class: 'CH', answer: 'x' }) },
    { status: 'ok', TXT: [] },
  ],
  [
    'ALOOKUP gives the families that it found',
    { ALOOKUP: result('NOERROR', { ipv4_addresses: ['192.0.2.1'] }) },
    { status: 'ok', A: ['192.0.2.1'] },
  ],
  [
    'MXLOOKUP and NSLOOKUP give lists',
    {
      MXLOOKUP: result('NOERROR', {
        exchanges: [{ name: 'mx.example.net', type: 'MX', preference: 1, ipv4_addresses: ['192.0.2.1'] }],
      }),
      NSLOOKUP: result('NOERROR', { servers: [{ name: 'ns.example.net', type: 'NS' }] }),
    },
    { status: 'ok', MX: [{ priority: 1, mail_server: 'mx.example.net' }], NS: ['ns.example.net'] },
  ],
] as [string, Given, unknown][]) {
  test(what, () => assert.deepEqual(dnsOf(zdnsFormat, lineOf(results)), dns))
}

for (const [what, results] of [
  ['only A failed', { A: result('SERVFAIL') }],
  ['zdns itself failed', { A: result('ERROR'), AAAA: result('TRUNCATED'), MX: result('ILLEGAL_INPUT') }],
  ['an alias was not followed to its end', { A: found(cname('example.com', 'a.example')) }],
  [
    'the aliases form a loop, and there is no other record',
    { A: found(cname('example.com', 'a.example'), cname('a.example', 'example.com')) },
  ],
  [
    'the server only sent a referral',
    { NS: result('NOERROR', { answers: [], authorities: [{ type: 'NS' }], flags: {} }) },
  ],
  ['the list of answers is missing', { A: result('NOERROR', {}) }],
  [
    'its modules are for other types, or for some records of one',
    { SPF: found(), DMARC: found(), CAA: found(), AXFR: found() },
  ],
] as [string, Given][]) {
  test(`nothing is reported if ${what}`, () => {
    const { observations, refused } = read(zdnsFormat, [lineOf(results)])
    assert.deepEqual([observations, refused], [[], []])
  })
}

test('the old layout has one result per line, and the module follows from what was found', () => {
  const old = (status: string, data: unknown) =>
    JSON.stringify({ name: 'example.com', class: 'IN', status, data, timestamp: TIME })
  for (const [line, dns] of [
    [
      old('NOERROR', { answers: [cname('example.com', 'a.example'), a('192.0.2.1', 'a.example')] }),
      { status: 'ok', A: ['192.0.2.1'] },
    ],
    [old('NOERROR', { answers: [{ type: 'TXT', name: 'example.com', answer: 'x' }] }), { status: 'ok', TXT: [['x']] }],
    [old('NOERROR', { exchanges: [] }), { status: 'ok', MX: [] }],
    [old('NOERROR', { servers: [{ name: 'ns.example', type: 'NS' }] }), { status: 'ok', NS: ['ns.example'] }],
    [old('NOERROR', { ipv6_addresses: ['2001:db8::1'] }), { status: 'ok', AAAA: ['2001:db8::1'] }],
    [old('NXDOMAIN', null), { status: 'nxdomain' }],
  ] as const)
    assert.deepEqual(dnsOf(zdnsFormat, line), dns)
  assert.equal(read(zdnsFormat, [old('NOERROR', { answers: [] })]).passedOver, 1)
})

test('an invalid line is rejected with the field', () => {
  const good = { A: found(a('192.0.2.1')) }
  for (const [line, reason] of [
    ['{"name":', /^must be JSON: /],
    ['[]', /^must be a JSON object$/],
    [lineOf(good, { name: 'https://example.com/' }), /^name: a scheme .*; send example\.com$/],
    [lineOf(good, { name: 7 }), /^name: must be a domain name$/],
    [JSON.stringify({ name: 'example.com', results: [] }), /^results: must be an object$/],
    [lineOf({ A: [] }), /^results\.A: must be an object$/],
    [lineOf({ A: { timestamp: TIME } }), /^results\.A\.status: must be a text$/],
    [lineOf({ A: { ...good.A, timestamp: 'now' } }), /^results\.A\.timestamp: must be an RFC 3339 time$/],
    [lineOf({ A: found(a('192.0.2.256')) }), /^results\.A\.data: A\[0\]: must be an IPv4 address$/],
    [lineOf({ MX: found({ type: 'MX', answer: 'a b', preference: 1 }) }), /^results\.MX\.data: MX\[0\]\.mail_server: /],
    [lineOf({ A: found(...Array.from({ length: 257 }, () => a('192.0.2.1'))) }), /at most 256 records$/],
  ] as const)
    assert.match(whyRefused(zdnsFormat, line), reason)
})

test('a line without a time gets the given time, and is rejected without one', () => {
  const line = JSON.stringify({ name: 'example.com', results: { A: { status: 'NXDOMAIN' } } })
  assert.match(whyRefused(zdnsFormat, line), /carries no time; --observed-at/)
  assert.equal(read(zdnsFormat, [line], NOON).sightings[0]?.at, NOON)
  assert.notEqual(read(zdnsFormat, [lineOf({ A: found(a('192.0.2.1')) })], NOON).sightings[0]?.at, NOON)
})

standsHostileLines(zdnsFormat, [
  lineOf({ A: found(a('192.0.2.1'), cname('example.com', 'a.example')), TXT: found({ type: 'TXT', answer: 'x' }) }),
  lineOf({
    MXLOOKUP: result('NOERROR', { exchanges: [{ name: 'mx.example', preference: 1 }] }),
    SOA: found({ type: 'SOA', mbox: 'a.b' }),
  }),
])

const examples = sample('zdns/readme-examples.txt')
test('the examples of its README are read', { skip: examples === null && NOT_HERE }, () => {
  const blocks = [...examples!.matchAll(/^\{\n.*?^\}$/gms)].map(([block]) => JSON.stringify(JSON.parse(block)))
  const lines = [...examples!.matchAll(/^\{"name".*$/gm)].map(([line]) => line.replaceAll('...', ''))
  const { observations, refused } = read(zdnsFormat, [
    ...blocks,
    ...lines.map((line) => line.replace('"additionals":,', '')),
  ])
  assert.deepEqual(refused, [])
  assert.deepEqual(observations, [
    {
      domain: 'censys.io',
      observed_at: '2024-08-23T17:10:11Z',
      dns: {
        status: 'ok',
        MX: [
          { priority: 1, mail_server: 'aspmx.l.google.com' },
          { priority: 5, mail_server: 'alt1.aspmx.l.google.com' },
        ],
      },
    },
    {
      domain: 'censys.io',
      observed_at: '2024-08-23T17:12:43Z',
      dns: { status: 'ok', A: ['104.18.10.85', '104.18.11.85'] },
    },
    { domain: 'facebook.com', observed_at: '2024-09-13T13:51:34Z', dns: { status: 'ok', A: [] } },
    { domain: 'google.com', observed_at: '2024-09-13T13:51:34Z', dns: { status: 'ok', A: [] } },
  ])
})

const expected = sample('zdns/integration_expected_answers.json')
test('the answers that the tests of zdns expect are read', { skip: expected === null && NOT_HERE }, () => {
  const answers: Record<string, Given & Given[]> = JSON.parse(expected!)
  const asked = (name: string, module: string, key: string) =>
    dnsOf(zdnsFormat, JSON.stringify({ name, results: { [module]: result('NOERROR', { answers: answers[key] }) } }))
  const apex = 'zdns-testing.com'
  const addresses = ['1.2.3.4', '2.3.4.5', '3.4.5.6']
  assert.deepEqual(asked(apex, 'MX', 'MX_SERVERS'), {
    status: 'ok',
    MX: [
      { priority: 1, mail_server: 'mx1.zdns-testing.com' },
      { priority: 5, mail_server: 'mx2.zdns-testing.com' },
      { priority: 10, mail_server: 'mx1.censys.io' },
    ],
  })
  assert.deepEqual(asked(apex, 'NS', 'NS_SERVERS'), {
    status: 'ok',
    NS: [1, 2, 3, 4].map((number) => `ns-cloud-c${number}.googledomains.com`),
  })
  assert.deepEqual(asked(`www.${apex}`, 'CNAME', 'WWW_CNAME_ANSWERS'), { status: 'ok', CNAME: [apex] })
  assert.deepEqual(asked(`www.${apex}`, 'A', 'WWW_CNAME_AND_A_ANSWERS'), { status: 'ok', A: addresses })
  assert.equal((asked(`www.${apex}`, 'AAAA', 'WWW_CNAME_AND_AAAA_ANSWERS') as { AAAA: [] }).AAAA.length, 3)
  assert.deepEqual(asked('a.zdns-dname.esrg.stanford.edu', 'A', 'DNAME_A_RECORD_ANSWERS'), {
    status: 'ok',
    A: ['21.9.87.65'],
  })
  assert.deepEqual(asked(`test_txt.${apex}`, 'TXT', 'TXT_RECORD'), { status: 'ok', TXT: [['Hello World!']] })
  assert.equal((asked(`large-text.${apex}`, 'TXT', 'TCP_LARGE_TXT_ANSWERS') as { TXT: [] }).TXT.length, 14)
  assert.equal(
    (asked(apex, 'SOA', 'SOA_ANSWERS') as { SOA: Given[] }).SOA[0]?.admin_email,
    'cloud-dns-hostmaster@google.com',
  )
  const whole = [
    'MX_LOOKUP_ANSWER',
    'A_LOOKUP_WWW_ZDNS_TESTING',
    'NS_LOOKUP_WWW_ZDNS_TESTING',
    'NXDOMAIN_ANSWER',
    'UDP_TRUNCATED_LARGE_TXT',
  ]
  const { sightings, passedOver } = read(
    zdnsFormat,
    whole.map((key) => JSON.stringify(answers[key])),
    NOON,
  )
  assert.deepEqual(
    sightings.map((each) => each.type),
    ['MX', 'A', 'AAAA', 'NS', 'A'],
  )
  assert.equal(passedOver, 1)
})

const transfer = sample('zdns/axfr-zonetransfer.me.json')
test('a zone transfer is skipped', { skip: transfer === null && NOT_HERE }, () => {
  const line = JSON.stringify({ name: 'zonetransfer.me', status: 'NOERROR', timestamp: TIME, ...JSON.parse(transfer!) })
  assert.deepEqual([read(zdnsFormat, [line]).passedOver, read(zdnsFormat, [line]).refused], [1, []])
})
