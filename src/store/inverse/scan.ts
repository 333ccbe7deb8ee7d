/**
 * Scans ranges of keys of the inverse index. A read is a generator that asks for blocks and clocks, and an engine answers
 * it from one snapshot: SQLite at once, PostgreSQL with a round trip for each question.
 */

import { eventOfPosition, keyOfPosition, positionOf } from '../../inverse/entries/block.ts'
import { compareKeys, type MergedEntries } from '../../inverse/entries/merge.ts'
import { LABEL_END, latin1Bytes } from '../../inverse/entries/value-key.ts'
import type { DomainName } from '../../values/domain-name.ts'
import type { RunSlice } from '../port/inverse.ts'
import type { StoredClocks } from '../shared/columns.ts'
import { entriesOfPortion, portionEnd } from './portion.ts'

/**
 * What a read needs next: the slices of all published runs from a position, the clocks of names in their order, or the
 * blocks of ranges of keys.
 */
export type InverseRequest =
  | { needs: 'slices'; from: Uint8Array; blocks: number }
  | { needs: 'clocks'; names: readonly DomainName[] }
  | ({ needs: 'blocks' } & BlockRequest)
type Answer = RunSlice[] | StoredClocks[] | RangeBlocks

/**
 * The blocks of all published runs that may have keys in the ranges, which ascend and do not overlap: at most `most` of
 * each run for each range, and `total` in all.
 */
export type BlockRequest = { ranges: readonly ByteRange[]; most: number; total: number }
/** As KeyRange. */
export type ByteRange = { from: Buffer; to: Buffer }
/** The blocks of each run in their order. `isComplete`: whether none was left out. */
export type RangeBlocks = { runs: Uint8Array[][]; isComplete: boolean }
export type InverseRead<Result> = Generator<InverseRequest, Result, Answer>

/** A range of keys: `from` included, `to` excluded. A key is a text of one character per byte. */
export type KeyRange = { from: string; to: string }

/** Entries that a block has at least. */
const ENTRIES_PER_BLOCK = 12
const MAX_BLOCKS_PER_READ = 64
/** The first read is of one block of each run, because most answers are short. Each further one is of this many times as many. */
const READ_GROWTH = 8
/** Blocks of each run in a further read at least. It begins with the last block of the one before. */
const MIN_FURTHER_BLOCKS = 2
/** Blocks of a run that a read asks for if too few made no progress. */
const MAX_GROWN_BLOCKS = 65_536
/** Below every byte of a label, and above the bytes that end labels and data. */
const LOWEST_LABEL_BYTE = '\x02'

/**
 * Calls `take` with the entries of ranges, in order, until it returns false. `next`: the position of the entry that it
 * did not take; null at the end. `fromEvent`: the first event of the entry that belongs to the page.
 */
export function* scan(
  ranges: readonly KeyRange[],
  after: string | null,
  limit: number,
  take: (entry: MergedEntries, fromEvent: number) => boolean,
): InverseRead<{ next: string | null }> {
  const most = Math.min(MAX_BLOCKS_PER_READ, Math.ceil(limit / ENTRIES_PER_BLOCK))
  let wanted = 1
  let blocks = 1
  for (const { from, to } of ranges) {
    if (after !== null && after >= to) continue
    let at = after !== null && after > from ? after : from
    const end = latin1Bytes(to)
    for (;;) {
      const start = latin1Bytes(at)
      const slices = (yield { needs: 'slices', from: start, blocks }) as RunSlice[]
      const isPosition = at === after
      for (const entry of entriesOfPortion(slices, start)) {
        if (compareKeys(entry.key, entry.keyLength, end, end.length) >= 0) break
        const fromEvent = isPosition && entry.keyText() === keyOfPosition(at) ? eventOfPosition(at) : 0
        if (!take(entry, fromEvent)) return { next: positionOf(entry.keyText(), 0) }
      }
      const bound = portionEnd(slices)
      if (bound === null || end.compare(bound) <= 0) break
      const reached = Buffer.from(bound).toString('latin1')
      if (reached > at) {
        at = reached
        wanted = Math.min(most, wanted * READ_GROWTH)
        blocks = Math.max(MIN_FURTHER_BLOCKS, Math.ceil(wanted / slices.length))
      } else if (blocks >= MAX_GROWN_BLOCKS) throw new RangeError('an entry of the inverse index has too many events')
      else blocks *= READ_GROWTH
    }
  }
  return { next: null }
}

/** The keys of a set of names in a range. `end`: the position of the first one after them. */
export function* readKeys(
  range: KeyRange,
  after: string | null,
  limit: number,
): InverseRead<{ keys: string[]; end: string | null }> {
  const keys: string[] = []
  const { next } = yield* scan([range], after, limit, (entry) => {
    if (keys.length === limit) return false
    keys.push(entry.keyText())
    return true
  })
  return { keys, end: next === null ? null : joinPosition(keyOfPosition(next), '') }
}

export function joinPosition(host: string, inner: string): string {
  return String.fromCharCode(host.length >> 8, host.length & 255) + host + inner
}

export function splitPosition(position: string): { host: string; inner: string | null } {
  const end = 2 + position.charCodeAt(0) * 256 + position.charCodeAt(1)
  return { host: position.slice(2, end), inner: position.length > end ? position.slice(end) : null }
}

/** All keys that begin with a text. */
export function prefixRange(prefix: string): KeyRange {
  return { from: prefix, to: successor(prefix) }
}

/** All keys in which a label follows these. */
export function furtherLabels(prefix: string): KeyRange {
  return { from: prefix + LOWEST_LABEL_BYTE, to: successor(prefix) }
}

/**
 * The keys of the known names that begin with a text, for the `forwardNamePrefix` of that text. The name before a dot at
 * the end of the text is not one of them.
 */
export function forwardNameRange(prefix: string): KeyRange {
  return prefix.endsWith(LABEL_END) ? furtherLabels(prefix) : prefixRange(prefix)
}

/** The first text after all that begin with `prefix`, which is not all 255. */
export function successor(prefix: string): string {
  let end = prefix.length - 1
  while (prefix.charCodeAt(end) === 255) end--
  return prefix.slice(0, end) + String.fromCharCode(prefix.charCodeAt(end) + 1)
}
