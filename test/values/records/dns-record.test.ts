// Tests record sets: what an observation may contain, and the canonical form of a set.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { compareBytewise } from '../../../src/values/bytewise-order.ts'
import {
  type AnyRecord,
  canonicalRecordSet,
  RECORD_TYPES,
  type RecordType,
} from '../../../src/values/records/dns-record.ts'
import { decodeRecords, encodeRecords, recordsJson } from '../../../src/values/records/stored-records.ts'

const SOA = {
  primary_nameserver: 'ns.icann.org',
  admin_email: 'noc@dns.icann.org',
  serial: 2026111901,
  refresh_seconds: 7200,
  retry_seconds: 3600,
  expire_seconds: 1209600,
  minimum_ttl_seconds: 3600,
}
const text = (type: RecordType, given: unknown) => {
  const set = canonicalRecordSet(type, given)
  return typeof set === 'string' ? set : JSON.stringify(set)
}

test('addresses are stored once, in RFC 5952 form, in numeric order', () => {
  assert.equal(
    text('A', ['10.0.0.1', '9.0.0.1', '10.0.0.1']),
    '[{"ipv4_address":"9.0.0.1"},{"ipv4_address":"10.0.0.1"}]',
  )
  assert.equal(
    text('AAAA', ['::FFFF:102:304', '2001:DB8:0::1', '::1', '2001:db8::1']),
    '[{"ipv6_address":"::1"},{"ipv6_address":"::ffff:1.2.3.4"},{"ipv6_address":"2001:db8::1"}]',
  )
})

test('MX is ordered by priority, then name', () => {
  const given = [
    { priority: 20, mail_server: 'A.example.', note: 'ignored' },
    { mail_server: 'c.example', priority: 5 },
    { priority: 20, mail_server: 'a.example' },
    { priority: 5, mail_server: 'B.example' },
    { priority: -0, mail_server: '.' },
  ]
  assert.deepEqual(canonicalRecordSet('MX', given), [
    { priority: 0, mail_server: '.' },
    { priority: 5, mail_server: 'b.example' },
    { priority: 5, mail_server: 'c.example' },
    { priority: 20, mail_server: 'a.example' },
  ])
  assert.match(text('MX', given), /^\[\{"priority":0,"mail_server":"\."\},/)
})

test('TXT keeps its parts and their join, ordered by the text, then by the parts', () => {
  assert.deepEqual(canonicalRecordSet('TXT', [['b'], ['ab', ''], ['ab'], ['a', 'b'], ['', 'ab'], ['a', 'b']]), [
    { text: 'ab', parts: ['', 'ab'] },
    { text: 'ab', parts: ['a', 'b'] },
    { text: 'ab', parts: ['ab'] },
    { text: 'ab', parts: ['ab', ''] },
    { text: 'b', parts: ['b'] },
  ])
  assert.equal(text('TXT', [['a\\b']]), '[{"text":"a\\\\\\\\b","parts":["a\\\\\\\\b"]}]')
})

test('names of NS and CNAME are in byte order', () => {
  assert.equal(text('NS', ['b.', 'A', 'a']), '[{"nameserver":"a"},{"nameserver":"b"}]')
  assert.equal(text('CNAME', ['Target.Example.']), '[{"target":"target.example"}]')
})

test('SOA has its keys in the order of the specification, with minimum_ttl_seconds only if it was given', () => {
  const { minimum_ttl_seconds, ...older } = SOA
  assert.equal(text('SOA', [{ minimum_ttl_seconds, ...older }]), JSON.stringify([SOA]))
  assert.equal(text('SOA', [older]), JSON.stringify([older]))
  assert.equal(text('SOA', [{ ...older, minimum_ttl_seconds: null }]), JSON.stringify([older]))
  assert.equal(
    text('SOA', [{ ...SOA, primary_nameserver: 'NS.ICANN.org.', admin_email: 'NOC@dns.ICANN.org' }, SOA]),
    JSON.stringify([SOA]),
  )
  for (const admin_email of ['.', 'hostmaster', '@']) assert.match(text('SOA', [{ ...SOA, admin_email }]), /^\[/)
})

const HOST = /: must be a host name: labels of at most 63 bytes, 255 in all, no white space or control characters$/
const REFUSED: [type: RecordType, given: unknown, why: string | RegExp][] = [
  ['A', null, 'A: must be a list'],
  ['A', { 0: '1.2.3.4' }, 'A: must be a list'],
  ['A', ['1.2.3.4', '::1'], 'A[1]: must be an IPv4 address'],
  ['A', ['::ffff:1.2.3.4'], 'A[0]: must be an IPv4 address'],
  ['A', [16909060], 'A[0]: must be an IPv4 address'],
  ['AAAA', ['1.2.3.4'], 'AAAA[0]: must be an IPv6 address'],
  ['AAAA', ['fe80::1%eth0'], 'AAAA[0]: must be an IPv6 address'],
  ['MX', ['10 mx.example'], 'MX[0]: must be an object'],
  [
    'MX',
    [
      { priority: 10, mail_server: 'a' },
      { priority: 65536, mail_server: 'a' },
    ],
    'MX[1].priority: must be a whole number from 0 to 65535',
  ],
  ['MX', [{ priority: '10', mail_server: 'a' }], /^MX\[0\]\.priority: /],
  ['MX', [{ priority: 1.5, mail_server: 'a' }], /^MX\[0\]\.priority: /],
  ['MX', [{ priority: -1, mail_server: 'a' }], /^MX\[0\]\.priority: /],
  ['MX', [{ mail_server: 'a' }], /^MX\[0\]\.priority: /],
  ['MX', [{ priority: 1 }], HOST],
  ['MX', [{ priority: 1, mail_server: 'a b' }], /^MX\[0\]\.mail_server: /],
  ['TXT', ['plain'], 'TXT[0]: must be a list of at least one text'],
  ['TXT', [[]], 'TXT[0]: must be a list of at least one text'],
  ['TXT', [['a'], ['b', 1]], 'TXT[1][1]: must be a text of at most 255 bytes'],
  ['TXT', [['a'.repeat(256)]], 'TXT[0][0]: must be a text of at most 255 bytes'],
  ['NS', [''], HOST],
  ['NS', [null], /^NS\[0\]: /],
  ['CNAME', ['a..b'], /^CNAME\[0\]: /],
  ['SOA', [[]], 'SOA[0]: must be an object'],
  ['SOA', [{ ...SOA, primary_nameserver: null }], /^SOA\[0\]\.primary_nameserver: /],
  ['SOA', [{ ...SOA, admin_email: '' }], /^SOA\[0\]\.admin_email: /],
  ['SOA', [{ ...SOA, admin_email: 'a b@example.com' }], /^SOA\[0\]\.admin_email: /],
  ['SOA', [{ ...SOA, admin_email: 'a\u0000@example.com' }], /^SOA\[0\]\.admin_email: /],
  ['SOA', [{ ...SOA, admin_email: '\ud800@example.com' }], /^SOA\[0\]\.admin_email: /],
  ['SOA', [{ ...SOA, admin_email: 'a'.repeat(321) }], /^SOA\[0\]\.admin_email: /],
  ['SOA', [{ ...SOA, serial: 4294967296 }], 'SOA[0].serial: must be a whole number from 0 to 4294967295'],
  ['SOA', [{ ...SOA, expire_seconds: undefined }], /^SOA\[0\]\.expire_seconds: /],
  ['SOA', [{ ...SOA, minimum_ttl_seconds: '1' }], /^SOA\[0\]\.minimum_ttl_seconds: /],
]

test('a list that violates the format is rejected with the field and the reason', () => {
  for (const [type, given, why] of REFUSED)
    if (typeof why === 'string') assert.equal(canonicalRecordSet(type, given), why)
    else assert.match(String(canonicalRecordSet(type, given)), why)
})

test('256 addresses, 500 records and 64 KiB per type are accepted, and one more is not', () => {
  const many = (count: number, make: (index: number) => unknown) =>
    Array.from({ length: count }, (_, index) => make(index))
  const quad = (index: number) => `10.0.${index >> 8}.${index & 255}`
  assert.equal(canonicalRecordSet('A', many(256, quad)).length, 256)
  assert.equal(text('A', many(257, quad)), 'A: must hold at most 256 records')
  assert.equal(
    canonicalRecordSet(
      'NS',
      many(500, (index) => `ns${index}.example`),
    ).length,
    500,
  )
  assert.equal(
    text(
      'NS',
      many(501, (index) => `ns${index}.example`),
    ),
    'NS: must hold at most 500 records',
  )
  const parts = many(127, () => 'a'.repeat(255)) // with quotes, commas and the join: a few hundred bytes below the limit
  const room = 65_536 - text('TXT', [parts]).length
  const filled = [...parts, 'a'.repeat(Math.floor((room - 3) / 2))]
  assert.ok(text('TXT', [filled]).length >= 65_535)
  assert.equal(text('TXT', [[...filled.slice(0, -1), `${filled.at(-1)}a`]]), 'TXT: must hold at most 64 KiB of records')
})

/** Returns the list that an observation file would contain for a set. */
function asGiven(type: RecordType, set: readonly AnyRecord[]): unknown[] {
  if (type === 'TXT') return set.map((record) => (record as { parts: string[] }).parts)
  return type === 'MX' || type === 'SOA' ? [...set] : set.map((record) => Object.values(record)[0])
}

const host = fc
  .array(fc.constantFrom('a', 'B', 'é', '_', '\\.', '\\200', '1'), { minLength: 1, maxLength: 3 })
  .map((all) => all.join(''))
const GIVEN: { [T in RecordType]: fc.Arbitrary<unknown> } = {
  A: fc.ipV4(),
  AAAA: fc.ipV6(),
  MX: fc.record({ priority: fc.nat(3), mail_server: host }),
  TXT: fc.array(fc.string({ unit: 'binary', maxLength: 4 }), { minLength: 1, maxLength: 3 }),
  NS: host,
  SOA: fc
    .record({ primary_nameserver: host, serial: fc.nat(3), minimum_ttl_seconds: fc.option(fc.nat(1)) })
    .map((some) => ({ ...SOA, ...some })),
  CNAME: host,
}

for (const type of RECORD_TYPES)
  test(`the set of ${type} is the same in any order and with repeats, and is canonical already`, () => {
    fc.assert(
      fc.property(fc.array(GIVEN[type], { maxLength: 8 }), fc.nat(8), (given, turn) => {
        const set = canonicalRecordSet(type, given)
        assert.ok(typeof set !== 'string', String(set))
        assert.equal(
          text(type, [...given.slice(turn), ...given, ...given.slice(0, turn)].reverse()),
          JSON.stringify(set),
        )
        assert.equal(text(type, asGiven(type, set)), JSON.stringify(set))
        assert.deepEqual(decodeRecords(type, encodeRecords(type, set)), set)
        assert.equal(recordsJson(type, JSON.parse(encodeRecords(type, set))), JSON.stringify(set))
        assert.equal(new Set(set.map((record) => JSON.stringify(record))).size, set.length)
      }),
    )
  })

test('the stored text of host names is JSON, also with quotes and escapes', () => {
  const hosts = ['a.example', 'quo"te.example', 'back\\\\slash.example', '\\195\\188.example']
  const set = canonicalRecordSet('NS', hosts)
  assert.ok(Array.isArray(set))
  assert.equal(encodeRecords('NS', set), JSON.stringify(set.map(({ nameserver }) => nameserver)))
  assert.equal(set.length, hosts.length)
  assert.deepEqual(decodeRecords('NS', encodeRecords('NS', set)), set)
})

test('texts are compared by their UTF-8 bytes', () => {
  const some = fc.string({ unit: fc.constantFrom('a', 'ü', '\uffff', '\ue000', '😀', '𐀀'), maxLength: 5 })
  fc.assert(
    fc.property(some, some, (a, b) =>
      assert.equal(Math.sign(compareBytewise(a, b)), Buffer.compare(Buffer.from(a), Buffer.from(b))),
    ),
  )
})
