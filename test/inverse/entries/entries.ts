/** Entries of the inverse index for the tests: generators, and runs that are packed and read. */

import assert from 'node:assert/strict'
import fc from 'fast-check'
import { type Block, BlockWriter, EntryCursor, MAX_KEY_BYTES } from '../../../src/inverse/entries/block.ts'
import { MergedEntries } from '../../../src/inverse/entries/merge.ts'
import { KEY_KIND, latin1Bytes } from '../../../src/inverse/entries/value-key.ts'

export type Entries = Map<string, number[]>

export const MAX_EVENT = 2 ** 33

/** Keys that share beginnings. No byte is 0, as in the names at their ends. */
export const key = fc
  .tuple(
    fc.constantFrom('', 'h', 'hcom\x01example\x01', `t\xff${'long '.repeat(100)}`, KEY_KIND.rotatedName),
    fc.string({
      minLength: 1,
      maxLength: 100,
      unit: fc.integer({ min: 1, max: 255 }).map((byte) => String.fromCharCode(byte)),
    }),
  )
  .map((parts) => parts.join('').slice(0, MAX_KEY_BYTES))
export const event = fc.oneof(fc.integer({ min: 2, max: 400 }), fc.integer({ min: 0, max: MAX_EVENT }))
const events = fc.oneof(
  { weight: 8, arbitrary: fc.array(event, { maxLength: 4 }) },
  { weight: 1, arbitrary: fc.array(event, { maxLength: 1000, size: 'max' }) },
)
export const entries: fc.Arbitrary<Entries> = fc
  .array(fc.tuple(key, events), { maxLength: 60, size: 'max' })
  .map((pairs) => sorted(new Map(pairs.map(([each, list]) => [each, eventsOf(each, list)]))))

/** A rotated name has no events. */
export function eventsOf(each: string, list: readonly number[]): number[] {
  return each.startsWith(KEY_KIND.rotatedName) ? [] : once(list)
}

export function once(list: readonly number[]): number[] {
  return [...new Set(list)].sort((a, b) => a - b)
}

export function sorted(map: Entries): Entries {
  return new Map([...map].sort(([a], [b]) => Buffer.compare(latin1Bytes(a), latin1Bytes(b))))
}

/** The entries of all runs, in order, with the events of all. */
export function unionOf(runs: readonly Entries[]): Entries {
  const union: Entries = new Map()
  for (const run of runs) for (const [each, list] of run) union.set(each, once([...(union.get(each) ?? []), ...list]))
  return sorted(union)
}

export function packed(map: Entries): Block[] {
  const writer = new BlockWriter()
  for (const [each, list] of map) writer.add(latin1Bytes(each), each.length, list, list.length)
  return writer.take(true)
}

export function cursorOf(blocks: readonly Block[]): EntryCursor {
  return new EntryCursor(blocks.map(({ bytes }) => bytes))
}

/** The entries of a cursor; the parts of one entry are joined. */
export function read(cursor: EntryCursor): Entries {
  const found: Entries = new Map()
  for (let before = ''; cursor.next(); ) {
    const each = cursor.key.toString('latin1', 0, cursor.keyLength)
    assert.equal(cursor.shared, commonLength(before, each))
    before = each
    found.set(each, [...(found.get(each) ?? []), ...cursor.events.slice(0, cursor.eventCount)])
  }
  return found
}

function commonLength(a: string, b: string): number {
  let length = 0
  while (length < Math.min(a.length, b.length) && a[length] === b[length]) length++
  return length
}

export function readMerged(cursors: readonly EntryCursor[], from?: Uint8Array): Entries {
  const merged = new MergedEntries(cursors, from)
  const found: Entries = new Map()
  for (let before: string | null = null; merged.next(); before = merged.keyText()) {
    assert.ok(before === null || merged.keyText() > before, 'the keys ascend')
    assert.equal(merged.shared, commonLength(before ?? '', merged.keyText()))
    found.set(merged.keyText(), [...merged.events])
  }
  return found
}
