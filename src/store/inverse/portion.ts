/** A portion of the inverse index: the entries of all runs between two keys, from a few blocks of each run. */

import { EntryCursor } from '../../inverse/entries/block.ts'
import { compareKeys, MergedEntries } from '../../inverse/entries/merge.ts'
import type { RunSlice } from '../port/inverse.ts'

/** The bytes of a position after its key (`positionOf` in `block.ts`). */
export const POSITION_TAIL_BYTES = 6

/**
 * Yields the merged entries of all slices, in order, as far as they are complete: up to the first key of which a block
 * that was not read may have more. Keys before that of `from` are left out.
 */
export function* entriesOfPortion(slices: readonly RunSlice[], from: Uint8Array): Generator<MergedEntries, void> {
  const entries = new MergedEntries(slices.map(({ blocks }) => new EntryCursor(blocks)))
  const bound = portionEnd(slices)
  while (entries.next()) {
    const { key, keyLength } = entries
    if (bound !== null && compareKeys(key, keyLength, bound, bound.length) >= 0) return
    if (compareKeys(key, keyLength, from, from.length) >= 0 || isKeyOf(key, keyLength, from)) yield entries
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

/** Whether `from` is a position of this key. */
function isKeyOf(key: Uint8Array, keyLength: number, from: Uint8Array): boolean {
  return (
    from.length === keyLength + POSITION_TAIL_BYTES &&
    from[keyLength] === 0 &&
    compareKeys(key, keyLength, from, keyLength) === 0
  )
}
