/** Finds the known names that have any of many parts, in one pass over the sets of names of the inverse index. */

import { EntryCursor } from '../../inverse/entries/block.ts'
import { compareKeys } from '../../inverse/entries/merge.ts'
import { rotationRange } from '../../inverse/entries/rotation.ts'
import { forwardNamePrefix, KEY_KIND, knownNameOfKey, latin1Bytes } from '../../inverse/entries/value-key.ts'
import type { DomainName } from '../../values/domain-name.ts'
import type { NameParts, NamesOfParts } from '../port/inverse.ts'
import { type InverseRead, type KeyRange, prefixRange, type RangeBlocks } from './scan.ts'

/** Blocks of one run for one part at most: some thousand names. */
const MAX_BLOCKS_OF_PART = 64
/** Blocks of one read at most, about 50 milliseconds. */
const MAX_BLOCKS = 4_000

/**
 * Reads the names (`InverseReader.namesOfParts`). Sets have no events, so an entry of one run is complete, and the runs
 * are not merged: each of them has only few blocks to read, while a merge would read all runs at each part.
 */
export function* readNamesOfParts({ starts, insides }: NameParts): InverseRead<NamesOfParts> {
  const ranges = withoutOverlap([
    ...starts.map((text) => prefixRange(forwardNamePrefix(text))),
    ...insides.map((text) => {
      const { from, to } = rotationRange(text, false)
      return { from: KEY_KIND.rotatedName + from, to: KEY_KIND.rotatedName + to }
    }),
  ])
  const request = { needs: 'blocks', ranges, most: MAX_BLOCKS_OF_PART, total: MAX_BLOCKS } as const
  const { blocks, isComplete } = (yield request) as RangeBlocks
  const bounds = ranges.map(({ from, to }) => ({ from: latin1Bytes(from), to: latin1Bytes(to) }))
  const names = new Set<DomainName>()
  for (const block of blocks) addNamesOfBlock(block, bounds, names)
  return { names: [...names], isComplete }
}

/** The ranges in order. Those that touch or overlap are one. */
function withoutOverlap(ranges: readonly KeyRange[]): KeyRange[] {
  const sorted = ranges.toSorted((a, b) => (a.from < b.from ? -1 : 1))
  const separate: KeyRange[] = []
  for (const { from, to } of sorted) {
    const last = separate.at(-1)
    if (last === undefined || from > last.to) separate.push({ from, to })
    else if (to > last.to) last.to = to
  }
  return separate
}

/** Adds the names of a block whose keys are in a range. */
function addNamesOfBlock(
  block: Uint8Array,
  ranges: readonly { from: Uint8Array; to: Uint8Array }[],
  names: Set<DomainName>,
): void {
  const cursor = new EntryCursor([block])
  let next = -1
  while (cursor.next()) {
    const { key, keyLength } = cursor
    if (next < 0) next = firstRangeAfter(ranges, key, keyLength)
    while (next < ranges.length && isAtOrAfter(key, keyLength, ranges[next]!.to)) next++
    if (next === ranges.length) return
    if (isAtOrAfter(key, keyLength, ranges[next]!.from))
      names.add(knownNameOfKey(key.toString('latin1', 0, keyLength)) as DomainName)
  }
}

/** The number of the first range that ends after a key. */
function firstRangeAfter(ranges: readonly { to: Uint8Array }[], key: Uint8Array, keyLength: number): number {
  let [low, high] = [0, ranges.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (isAtOrAfter(key, keyLength, ranges[middle]!.to)) low = middle + 1
    else high = middle
  }
  return low
}

function isAtOrAfter(key: Uint8Array, keyLength: number, bound: Uint8Array): boolean {
  return compareKeys(key, keyLength, bound, bound.length) >= 0
}
