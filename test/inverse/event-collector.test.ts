/** The collector writes the same keys from stored texts as `valueKeysOfSet` makes. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { EntryCursor, startEvent } from '../../src/inverse/entries/block.ts'
import { EventCollector } from '../../src/inverse/entries/event-collector.ts'
import { valueKeysOfSet } from '../../src/inverse/entries/record-events.ts'
import {
  hostOfValueKey,
  keysOfLastLabel,
  keysOfName,
  knownNameOfKey,
  nameSetKey,
  namesHost,
} from '../../src/inverse/entries/value-key.ts'
import { canonicalRecordSet, RECORD_TYPES, type RecordType } from '../../src/values/records/dns-record.ts'
import { encodeRecords } from '../../src/values/records/stored-records.ts'

const label = fc.stringMatching(/^[a-z0-9_-]{1,12}$/)
const oddLabel = fc.constantFrom('a\\.b', 'é', '*', 'x"y', 'a\\\\b', 'A', '@', '\\@')
const host = fc.oneof(
  fc.array(label, { minLength: 1, maxLength: 4 }).map((labels) => labels.join('.')),
  fc.array(fc.oneof(label, oddLabel), { minLength: 1, maxLength: 4 }).map((labels) => labels.join('.')),
  fc.constantFrom('.', `${'a'.repeat(63)}.${'b'.repeat(63)}.${'c'.repeat(63)}.example`),
)
const knownName = fc.array(label, { minLength: 2, maxLength: 4 }).map((labels) => labels.join('.'))
const mailbox = fc.oneof(label, fc.constantFrom('first.last', 'a"b', 'x'.repeat(64), 'é', 'a@b'))
const email = fc.oneof(
  fc.tuple(mailbox, host).map(([local, domain]) => `${local}@${domain}`),
  host,
)
const text = fc.oneof(
  fc.string({ maxLength: 80 }),
  fc.string({ unit: 'grapheme', maxLength: 20 }),
  fc.constantFrom('', '","', '],[', 'v=spf1 -all'),
)
const byte = fc.integer({ min: 0, max: 255 })
const RECORDS: { [T in RecordType]: fc.Arbitrary<unknown> } = {
  A: fc.tuple(byte, byte, byte, byte).map((bytes) => bytes.join('.')),
  AAAA: fc.ipV6(),
  MX: fc.record({ priority: fc.integer({ min: 0, max: 65_535 }), mail_server: host }),
  TXT: fc.array(text, { minLength: 1, maxLength: 3 }),
  NS: host,
  SOA: fc.record({
    primary_nameserver: host,
    admin_email: email,
    serial: fc.nat(),
    refresh_seconds: fc.nat(),
    retry_seconds: fc.nat(),
    expire_seconds: fc.nat(),
  }),
  CNAME: host,
}

/** The entries of the blocks that a collector packs. */
function entriesOf(collector: EventCollector): [key: string, events: number[]][] {
  const cursor = new EntryCursor(collector.pack().map(({ bytes }) => bytes))
  const entries: [string, number[]][] = []
  while (cursor.next())
    entries.push([cursor.key.toString('latin1', 0, cursor.keyLength), cursor.events.slice(0, cursor.eventCount)])
  return entries
}

for (const type of RECORD_TYPES)
  test(`sets of ${type} records have the keys of their records, and each host is known`, () => {
    const collector = new EventCollector()
    let plain = 0
    fc.assert(
      fc.property(fc.array(RECORDS[type], { maxLength: 4 }), (given) => {
        const set = canonicalRecordSet(type, given)
        fc.pre(typeof set !== 'string')
        const stored = encodeRecords(type, set as never)
        if (!stored.includes('\\')) plain++
        const change = { type, before: undefined, last: 0, after: stored, at: 7, isInterrupted: false }
        collector.addChange('a.example', change)
        const keys = valueKeysOfSet(type, stored)
        const hosts = new Set(keys.filter(namesHost).map((key) => nameSetKey('knownHost', hostOfValueKey(key))))
        const expected: [string, number[]][] = [
          ...keys.map((key): [string, number[]] => [`${key}a.example`, [startEvent(7)]]),
          ...[...hosts].map((key): [string, number[]] => [key, []]),
        ]
        const byKey = ([a]: [string, number[]], [b]: [string, number[]]): number =>
          Buffer.compare(Buffer.from(a, 'latin1'), Buffer.from(b, 'latin1'))
        assert.deepEqual(entriesOf(collector), expected.sort(byKey))
      }),
      { numRuns: 500 },
    )
    assert.ok(plain > 50, 'the generator makes plain sets')
  })

test('a known name has the keys of keysOfName, and each last label its keys once', () => {
  fc.assert(
    fc.property(fc.uniqueArray(knownName, { minLength: 1, maxLength: 6 }), (names) => {
      const collector = new EventCollector()
      for (const name of names) collector.addName(name)
      const keys = new Set(names.flatMap((name) => [...keysOfName(name), ...keysOfLastLabel(name)]))
      const expected = [...keys].sort((a, b) => Buffer.compare(Buffer.from(a, 'latin1'), Buffer.from(b, 'latin1')))
      assert.deepEqual(
        entriesOf(collector),
        expected.map((key) => [key, []]),
      )
      for (const name of names) for (const key of keysOfName(name)) assert.equal(knownNameOfKey(key), name)
    }),
    { numRuns: 300 },
  )
})
