/** Frozen positions: what an earlier release stored means the same to every later one. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { OBSERVED_PARTS } from '../../../src/apply/crawl-state.ts'
import { prepareObservation, typesOfBits } from '../../../src/apply/prepare.ts'
import { PART_NUMBERS, RECORD_TYPE_NUMBERS, STATE_TYPE_NUMBERS } from '../../../src/apply/stored-numbers.ts'
import { AGE_DAYS } from '../../../src/store/port/schedule.ts'
import { clockCodec, FACTS_FLAG, packClocks, unpackClocks } from '../../../src/store/shared/columns.ts'
import { canonicalRecordSet, RECORD_TYPES } from '../../../src/values/records/dns-record.ts'
import { encodeRecords } from '../../../src/values/records/stored-records.ts'
import { decodeVerdict, encodeVerdict } from '../../../src/values/web-verdict.ts'
import { dns, name, seen } from '../conformance/world.ts'

/** Assigned numbers. A line may be added, but none may change. */
const TYPES = { A: 0, AAAA: 1, MX: 2, TXT: 3, NS: 4, SOA: 5, CNAME: 6 }
const STATES = { ...TYPES, web: 100, certificate: 101 }
const CLOCKS = { status: 0, A: 1, AAAA: 2, MX: 3, TXT: 4, NS: 5, SOA: 6, CNAME: 7, web: 8, certificate: 9 }
const FLAGS = {
  web: 1,
  has_website: 2,
  redirect_to_https: 4,
  redirect_to_www: 8,
  only_with_www: 16,
  only_dns_no_web: 32,
}
const AGES = [1, 2, 4, 7, 14, 21, 30, 60, 90, 180]

test('record types, clocks, flags and ages have their original numbers', () => {
  assert.deepEqual(RECORD_TYPE_NUMBERS, TYPES)
  assert.deepEqual(STATE_TYPE_NUMBERS, STATES)
  assert.deepEqual(PART_NUMBERS, CLOCKS)
  assert.deepEqual(FACTS_FLAG, FLAGS)
  assert.deepEqual(AGE_DAYS, AGES)
})

test('every record type and every clock has its own number', () => {
  assert.deepEqual(Object.keys(RECORD_TYPE_NUMBERS).sort(), [...RECORD_TYPES].sort())
  assert.deepEqual(Object.keys(PART_NUMBERS).sort(), [...OBSERVED_PARTS].sort())
  for (const numbers of [RECORD_TYPE_NUMBERS, PART_NUMBERS])
    assert.equal(new Set(Object.values(numbers)).size, Object.keys(numbers).length)
})

const NEWEST = 1_800_000_000
const MX_CLOCK = 0x01020304
const STORED = Buffer.from('03010203040800000000', 'hex')

test('clocks are stored as the same bytes as before', () => {
  const clocks = OBSERVED_PARTS.map((part) =>
    part === 'MX' ? MX_CLOCK : part === 'web' || part === 'certificate' ? 0 : NEWEST,
  )
  assert.deepEqual(packClocks(clocks), { clock: NEWEST, otherClocks: STORED })
  assert.deepEqual(unpackClocks(NEWEST, STORED), clocks)
  assert.deepEqual(
    packClocks(OBSERVED_PARTS.map((part) => (part === 'certificate' ? 0 : NEWEST))),
    { clock: NEWEST, otherClocks: null },
    'nothing is listed where all but the certificate are the newest',
  )
})

test('a release with an additional record type reads the rows of this one: the new type was never observed', () => {
  const [before, after] = [OBSERVED_PARTS.slice(0, 3), OBSERVED_PARTS.slice(3)]
  const numbers = [...before, 'CAA' as const, ...after].map((part) => (part === 'CAA' ? 10 : PART_NUMBERS[part]))
  const { pack, unpack } = clockCodec(numbers)
  const clocks = unpack(NEWEST, STORED)
  assert.deepEqual(
    clocks,
    [NEWEST, NEWEST, NEWEST, 0, MX_CLOCK, NEWEST, NEWEST, NEWEST, NEWEST, 0, 0],
    'the type stands between AAAA and MX',
  )
  assert.deepEqual(pack(clocks), { clock: NEWEST, otherClocks: STORED }, 'and writes the same bytes')
  const observed = clocks.with(3, NEWEST)
  assert.deepEqual(unpack(NEWEST, pack(observed).otherClocks), observed)
})

test('this release ignores the clock of a type that a newer one added', () => {
  const late = Buffer.concat([STORED, Buffer.from('0a00000007', 'hex')])
  assert.deepEqual(unpackClocks(NEWEST, late), unpackClocks(NEWEST, STORED))
})

test('queried types are stored as one bit per type, by number', () => {
  const { queriedTypes: asked } = prepareObservation(seen('a.example', 1, dns({ CNAME: [], MX: [], A: [] })))
  assert.equal(asked, (1 << 6) | (1 << 2) | (1 << 0))
  assert.deepEqual(typesOfBits(asked), ['A', 'MX', 'CNAME'])
})

/** The stored text of each type, which facts and superseded states contain. */
const TEXTS: readonly [keyof typeof TYPES, unknown, string][] = [
  ['A', ['192.0.2.1'], '["192.0.2.1"]'],
  ['AAAA', ['2001:db8::1'], '["2001:db8::1"]'],
  ['MX', [{ mail_server: 'mx.example', priority: 10 }], '[[10,"mx.example"]]'],
  ['TXT', [['a', 'b']], '[["a","b"]]'],
  ['NS', ['ns.example'], '["ns.example"]'],
  ['CNAME', ['www.example'], '["www.example"]'],
  [
    'SOA',
    [
      {
        minimum_ttl_seconds: 6,
        expire_seconds: 5,
        retry_seconds: 4,
        refresh_seconds: 3,
        serial: 2,
        admin_email: 'a@example',
        primary_nameserver: 'ns.example',
      },
    ],
    '[["ns.example","a@example",2,3,4,5,6]]',
  ],
]

test('the values of a record are stored in their original order, in whatever order they were given', () => {
  for (const [type, given, text] of TEXTS) {
    const records = canonicalRecordSet(type, given)
    assert.ok(typeof records !== 'string')
    assert.equal(encodeRecords(type, records), text)
    const turned = records.map((record) => Object.fromEntries(Object.entries(record).reverse()))
    assert.equal(encodeRecords(type, turned as never), text)
  }
})

test('the verdict of a website is stored as the same text as before', () => {
  const verdict = {
    has_website: false,
    redirect_to_https: true,
    redirect_to_www: false,
    only_with_www: true,
    redirects_to: name('target.example'),
    redirect_host: name('www.target.example'),
    ssl: 'valid',
  } as const
  const { redirect_host: _, ...older } = verdict
  for (const [each, text] of [
    [verdict, '[[0,1,0,1,"target.example","www.target.example","valid"]]'],
    [older, '[[0,1,0,1,"target.example",null,"valid"]]'],
  ] as const) {
    assert.equal(encodeVerdict(each), text)
    assert.deepEqual(decodeVerdict(text), each)
  }
})
