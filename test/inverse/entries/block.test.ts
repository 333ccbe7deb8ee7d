/** Blocks and the collector of events of the inverse index: the same entries come back, in order. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  BlockWriter,
  EntryCursor,
  endEvent,
  eventOfPosition,
  keyOfPosition,
  MAX_KEY_BYTES,
  positionOf,
  startEvent,
} from '../../../src/inverse/entries/block.ts'
import { EventCollector } from '../../../src/inverse/entries/event-collector.ts'
import { KEY_KIND, latin1Bytes } from '../../../src/inverse/entries/value-key.ts'
import { cursorOf, type Entries, entries, key, MAX_EVENT, once, packed, read, sorted } from './entries.ts'

test('blocks give back the entries that were packed, in order, and say where each block ends', () => {
  fc.assert(
    fc.property(entries, (map) => {
      const blocks = packed(map)
      assert.deepEqual([...read(cursorOf(blocks))], [...map])
      let before = ''
      for (const block of blocks) {
        const found = [...read(cursorOf([block]))]
        const [lastKey, lastEvents] = found.at(-1)!
        const last = Buffer.from(block.last).toString('latin1')
        assert.equal(last, positionOf(lastKey, lastEvents.at(-1) ?? 0))
        assert.ok(positionOf(found[0]![0], found[0]![1][0] ?? 0) > before)
        assert.deepEqual([keyOfPosition(last), eventOfPosition(last)], [lastKey, lastEvents.at(-1) ?? 0])
        before = last
      }
    }),
    { numRuns: 300 },
  )
})

test('a block has the bytes of every release', () => {
  const blocks = packed(
    new Map([
      ['ab', [5, 7]],
      ['ac', [3, 300]],
      ['ad', []],
      [`${KEY_KIND.rotatedName}x`, []],
    ]),
  )
  const expected = ['05', '0002616202', '0002', '01016302', '03a902', '01016400', '00027078']
  assert.deepEqual(
    blocks.map(({ bytes }) => Buffer.from(bytes).toString('hex')),
    [expected.join('')],
  )
  assert.deepEqual([startEvent(10), endEvent(10)], [20, 21])
  assert.equal(positionOf('k', 2 ** 33 + 0x01020304), 'k\x00\x02\x01\x02\x03\x04')
})

test('a block is complete at 880 bytes, and an entry of more than 128 events continues', () => {
  const keys = Array.from({ length: 300 }, (_, n) => `${String(n).padStart(3, '0')}456789`)
  const map: Entries = new Map(keys.map((each) => [each, []]))
  for (const { bytes } of packed(map).slice(0, -1)) assert.ok(bytes.length >= 880 && bytes.length < 900)
  const writer = new BlockWriter()
  const list = Array.from({ length: 300 }, (_, n) => n)
  writer.add(latin1Bytes('k'), 1, list, list.length)
  const cursor = cursorOf(writer.take(true))
  const counts: number[] = []
  while (cursor.next()) counts.push(cursor.eventCount)
  assert.deepEqual(counts, [128, 128, 44])
})

test('a number that no writer writes is damage: a shared or a whole key, a count or an event that is too large', () => {
  const before = [0, 0, 1, 97, 0] // the base, then the key "a" without events
  for (const [bytes, isDamaged] of [
    [[0, 0, 1, 97, 1, 0], false],
    [[...before, 1, 0, 0], false],
    [[...before, 2, 0, 0], true],
    [[0, 0, 0x80, 10, ...Array(1280).fill(97), 0], false],
    [[0, 0, 0x81, 10, ...Array(1281).fill(97), 0], true],
    [[0, 0, 1, 97, 0x80, 1, ...Array(128).fill(0)], false],
    [[0, 0, 1, 97, 0x81, 1, ...Array(129).fill(0)], true],
    [[0, 0, 1, 97, 1, 1], true], // before 0
    [[0, 0, 1, 97, 1, 0xfe, 0xff, 0xff, 0xff, 0xff, 0x3f], false], // 2 ** 40 - 1
    [[0, 0, 1, 97, 1, 0x80, 0x80, 0x80, 0x80, 0x80, 0x40], true], // 2 ** 40
  ] as [number[], boolean][]) {
    const read = () => entriesOf(Uint8Array.from(bytes))
    if (isDamaged) assert.throws(read, /damaged block/, bytes.slice(0, 12).join(' '))
    else read()
  }
})

function entriesOf(bytes: Uint8Array): Entries {
  return read(new EntryCursor([bytes]))
}

test('a key of 1,280 bytes and 1,000 events before the base of the block come back', () => {
  const long = 'k'.repeat(MAX_KEY_BYTES)
  const map: Entries = new Map([
    ['a', [MAX_EVENT]],
    ['b', Array.from({ length: 1000 }, (_, index) => 1 + 3 * index)],
    [long, [7]],
    [`${long.slice(1)}l`, []],
  ])
  assert.deepEqual(read(cursorOf(packed(map))), map)
})

test('an almost full block takes a key of 1,280 bytes with 128 events that are far apart', () => {
  const list = Array.from({ length: 128 }, (_, index) => index * 2 ** 33)
  for (let count = 85; count < 90; count++) {
    const keys = Array.from({ length: count }, (_, n) => `${String(n).padStart(3, '0')}456789`)
    const map: Entries = new Map([
      ...keys.map((each): [string, number[]] => [each, []]),
      ['k'.repeat(MAX_KEY_BYTES), list],
    ])
    assert.deepEqual(read(cursorOf(packed(map))), map)
  }
})

test('a cursor on damaged bytes throws RangeError or ends, and reads no byte outside', () => {
  const change = fc.oneof(
    fc.record({ at: fc.nat(), byte: fc.integer({ min: 0, max: 255 }), length: fc.constantFrom(1, 200) }),
    fc.record({ at: fc.nat(), byte: fc.constant(null), length: fc.constant(0) }),
  )
  fc.assert(
    fc.property(entries, fc.array(change, { minLength: 1, maxLength: 4 }), (map, changes) => {
      let bytes = Buffer.concat(packed(map).map((block) => block.bytes))
      for (const { at, byte, length } of changes) {
        const from = at % (bytes.length + 1)
        if (byte === null) bytes = bytes.subarray(0, from)
        else bytes = Buffer.concat([bytes.subarray(0, from), Buffer.alloc(length, byte), bytes.subarray(from + length)])
      }
      endsOrThrows(bytes)
    }),
    { numRuns: 1000 },
  )
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 400 }), (bytes) => endsOrThrows(bytes)),
    { numRuns: 1000 },
  )
})

test('a number that never ends is damage', () => {
  for (const byte of [0x80, 0xff]) endsOrThrows(Buffer.alloc(400, byte))
  assert.throws(() => read(new EntryCursor([Buffer.alloc(400, 0x80)])), RangeError)
  const inKeyLength = Buffer.concat([Buffer.of(0), Buffer.alloc(200, 0x80), Buffer.of(0, 1, 97, 0)])
  assert.throws(() => read(new EntryCursor([inKeyLength])), RangeError)
})

function endsOrThrows(bytes: Uint8Array, from: Uint8Array | null = null): void {
  const cursor = new EntryCursor([bytes])
  try {
    let isFound = from === null ? cursor.next() : cursor.seek(from)
    for (let count = 0; isFound; count++, isFound = cursor.next()) {
      assert.ok(count <= bytes.length, 'it does not end')
      assert.ok(Number.isInteger(cursor.keyLength) && cursor.keyLength <= MAX_KEY_BYTES)
      const list = cursor.events.slice(0, cursor.eventCount)
      assert.ok(list.every(Number.isSafeInteger), `events ${list}`)
    }
  } catch (error) {
    assert.ok(error instanceof RangeError && /damaged block/.test(error.message), String(error))
  }
}

test('a collector packs events of any order as Buffer.compare sorts their keys, each once', () => {
  const added = fc.array(
    fc.tuple(
      key,
      key.map((each) => each.slice(0, 40)),
      fc.integer({ min: 1, max: MAX_EVENT }),
    ),
    {
      maxLength: 80,
      size: 'max',
    },
  )
  fc.assert(
    fc.property(added, fc.array(key, { maxLength: 10 }), (list, set) => {
      const collector = new EventCollector()
      const expected: Entries = new Map()
      for (const [any, name, each] of list) {
        // no value is the beginning of another one, and none of these names a host
        const value = `t${any.slice(0, MAX_KEY_BYTES - 42).replaceAll('\x00', '\x01')}\x00`
        collector.add(value, name, each)
        expected.set(value + name, once([...(expected.get(value + name) ?? []), each]))
      }
      for (const each of new Set(set.map((any) => `o${any.slice(0, MAX_KEY_BYTES - 1)}`))) {
        collector.addToSet(each)
        expected.set(each, [])
      }
      assert.deepEqual([...read(cursorOf(collector.pack()))], [...sorted(expected)])
    }),
    { numRuns: 300 },
  )
})

test('a cursor that seeks in damaged bytes throws RangeError or ends', () => {
  fc.assert(
    fc.property(
      entries,
      key,
      fc.nat(),
      fc.integer({ min: 0, max: 255 }),
      fc.boolean(),
      (map, sought, at, byte, isCut) => {
        const bytes = Buffer.concat(packed(map).map((block) => block.bytes))
        if (bytes.length > 0) bytes[at % bytes.length] = byte
        endsOrThrows(isCut ? bytes.subarray(0, at % (bytes.length + 1)) : bytes, latin1Bytes(sought))
      },
    ),
    { numRuns: 1000 },
  )
})
