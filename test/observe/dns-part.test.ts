/** DNS answers become the status of a name and its records within their limits. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { toDnsPart } from '../../src/observe/dns-part.ts'
import type { DnsAnswer, DnsFailure, DnsProbeResult } from '../../src/probe/probe-result.ts'
import { RECORD_TYPES } from '../../src/values/records/dns-record.ts'
import { answered } from './probe-results.ts'

const NXDOMAIN = { outcome: 'nxdomain' } as const
const failed = (why: DnsFailure) => ({ outcome: 'failed', why }) as const
const NONE = answered()
const A = answered('192.0.2.1')

for (const [what, seen, status] of [
  ['A or AAAA has records', { A, AAAA: NONE }, 'ok'],
  ['A and AAAA are empty', { A: NONE, AAAA: NONE }, 'ok'],
  ['one of A and AAAA failed and the other answered', { A: failed('timeout'), AAAA: NONE }, 'ok'],
  ['one of A and AAAA was lost and the other answered', { AAAA: NONE }, 'ok'],
  ['A is NXDOMAIN', { A: NXDOMAIN, AAAA: NONE }, 'nxdomain'],
  ['only AAAA is NXDOMAIN', { A: failed('servfail'), AAAA: NXDOMAIN }, 'nxdomain'],
  ['AAAA is NXDOMAIN and A has records', { A, AAAA: NXDOMAIN }, 'ok'],
  [
    'neither was answered, and another type is NXDOMAIN',
    { A: failed('timeout'), AAAA: failed('timeout'), MX: NXDOMAIN },
    'nxdomain',
  ],
  ['neither was answered', { A: failed('refused'), AAAA: failed('lame'), NS: answered('ns.example.net') }, 'servfail'],
  ['both were lost and another type was answered', { MX: NONE }, 'ok'],
  ['both were lost and another type is NXDOMAIN', { NS: NXDOMAIN }, 'nxdomain'],
  ['nothing was answered for a local reason', {}, null],
  ['one failed and the other was lost', { A: failed('timeout'), MX: NONE }, null],
  ['the addresses were lost and the rest failed', { MX: failed('servfail') }, null],
] satisfies [string, DnsProbeResult, string | null][]) {
  test(`the status is ${status ?? 'unknown'} if ${what}`, () => assert.equal(toDnsPart(seen)?.status ?? null, status))
}

test('a type that failed or was not queried is left out, and an absent one is an empty list', () => {
  const part = toDnsPart({ A, MX: failed('timeout'), TXT: NONE })
  assert.deepEqual(part?.records, { A: [{ ipv4_address: '192.0.2.1' }], TXT: [] })
})

test('a family is not reported as empty if the other one was lost, because the name may have an address', () => {
  const part = toDnsPart({ AAAA: NONE, MX: NONE })
  assert.deepEqual([part?.status, part?.records], ['ok', { MX: [] }])
  assert.deepEqual(toDnsPart({ A })?.records, { A: [{ ipv4_address: '192.0.2.1' }] })
  assert.deepEqual(toDnsPart({ A: failed('timeout'), AAAA: NONE })?.records, { AAAA: [] })
})

test('a type with NXDOMAIN is absent if other types have records', () => {
  assert.deepEqual(toDnsPart({ A, MX: NXDOMAIN })?.records.MX, [])
})

test('records are stored once each, in canonical order and form', () => {
  const part = toDnsPart({
    A: answered('192.0.2.10', '192.0.2.9', '192.0.2.10'),
    AAAA: answered('2001:0DB8::0001'),
    MX: answered(
      { priority: 20, mail_server: 'B.example.' },
      { priority: 10, mail_server: 'a.example' },
      { priority: 0, mail_server: '.' },
    ),
    TXT: answered(['part one', 'part two']),
  })
  assert.deepEqual(part?.records, {
    A: [{ ipv4_address: '192.0.2.9' }, { ipv4_address: '192.0.2.10' }],
    AAAA: [{ ipv6_address: '2001:db8::1' }],
    MX: [
      { priority: 0, mail_server: '.' },
      { priority: 10, mail_server: 'a.example' },
      { priority: 20, mail_server: 'b.example' },
    ],
    TXT: [{ text: 'part onepart two', parts: ['part one', 'part two'] }],
  })
})

test('of more than 256 addresses the first in canonical order are stored', () => {
  const given = Array.from({ length: 600 }, (_, at) => `192.0.${at >> 8}.${at & 255}`)
  const kept = toDnsPart({ A: answered(...given.toReversed()) })?.records.A
  assert.deepEqual(
    kept?.map(({ ipv4_address }) => ipv4_address),
    given.slice(0, 256),
  )
})

test('of more than 500 records the first in canonical order are stored', () => {
  const given = Array.from({ length: 700 }, (_, at) => `ns${String(at).padStart(3, '0')}.example`)
  const kept = toDnsPart({ A, NS: answered(...given.toReversed()) })?.records.NS
  assert.deepEqual(
    kept?.map(({ nameserver }) => nameserver),
    given.slice(0, 500),
  )
})

test('of more than 64 KiB of records the first in canonical order are stored, as many as fit', () => {
  const given = Array.from({ length: 400 }, (_, at) => [String(at).padStart(3, '0') + 'x'.repeat(250)])
  const kept = toDnsPart({ A, TXT: answered(...given.toReversed()) })?.records.TXT ?? []
  const bytes = Buffer.byteLength(JSON.stringify(kept))
  assert.deepEqual(
    kept.map(({ parts }) => parts),
    given.slice(0, kept.length),
  )
  assert.ok(bytes <= 65_536 && bytes > 65_536 - 2 * 600)
})

test('an invalid record is dropped, and a type without a valid record is left out', () => {
  const part = toDnsPart({ A: answered('192.0.2.1', 'nonsense'), NS: answered('a b') })
  assert.deepEqual(part?.records, { A: [{ ipv4_address: '192.0.2.1' }] })
})

test('with nxdomain and servfail there are no records', () => {
  assert.deepEqual(toDnsPart({ A: NXDOMAIN, NS: answered('ns.example') })?.records, {})
  assert.deepEqual(
    toDnsPart({ A: failed('timeout'), AAAA: failed('timeout'), NS: answered('ns.example') })?.records,
    {},
  )
})

test('whatever was answered, the records of the part are within their limits', () => {
  const given = fc.oneof(
    fc.string(),
    fc.array(fc.string()),
    fc.dictionary(fc.string(), fc.oneof(fc.string(), fc.double())),
  )
  const answer: fc.Arbitrary<DnsAnswer> = fc.oneof(
    fc.constant(NXDOMAIN),
    fc.constantFrom<DnsFailure>('servfail', 'refused', 'lame', 'timeout', 'malformed').map(failed),
    fc.array(given).map((records) => answered(...records)),
  )
  const seen = fc.record(Object.fromEntries(RECORD_TYPES.map((type) => [type, answer])), { requiredKeys: [] })
  fc.assert(
    fc.property(seen, (each) => {
      const part = toDnsPart(each as DnsProbeResult)
      for (const set of Object.values(part?.records ?? {})) assert.ok(set.length <= 500)
    }),
    { numRuns: 150 },
  )
})
