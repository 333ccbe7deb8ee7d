/** A portion of the inverse index: the entries of all runs between two keys, from a few blocks of each run. */

import { EntryCursor, POSITION_TAIL_BYTES } from '../../inverse/entries/block.ts'
import { compareKeys, MergedEntries } from '../../inverse/entries/merge.ts'
import type { RunSlice } from '../port/inverse.ts'

/**
 * Yields the merged entries of all slices, in order, as far as they are complete: up to the first key of which a block
 * that was not read may have more. Keys before `from`, a key or a position, are left out.
 */
export function* entriesOfPortion(slices: readonly RunSlice[], from: Uint8Array): Generator<MergedEntries, void> {
  const cursors = slices.map(({ blocks }) => new EntryCursor(blocks))
  const entries = new MergedEntries(cursors, from)
  const bound = portionEnd(slices)
  while (entries.next()) {
    if (bound !== null && compareKeys(entries.key, entries.keyLength, bound, bound.length) >= 0) return
    yield entries
  }
}

/** The key from which a portion is incomplete; null if it is complete to the end of the index. */
export function portionEnd(slices: readonly RunSlice[]): Uint8Array | null {
  let bound: Uint8Array | null = null
  for (const { last, more } of slices) {
    if (!more) continue
    const key = last.subarray(0, last.length - POSITION_TAIL_BYTES)
    if (bound === null || compareKeys(key, key.length, bound, bound.length) < 0) bound = key
  }
  return bound
}
