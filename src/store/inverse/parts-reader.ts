/** Finds the known names that have any of many parts, in one pass over the sets of names of the inverse index. */

import { EntryCursor } from '../../inverse/entries/block.ts'
import { compareKeys } from '../../inverse/entries/merge.ts'
import { rotationRange } from '../../inverse/entries/rotation.ts'
import { forwardNamePrefix, KEY_KIND, knownNameOfKey, latin1Bytes } from '../../inverse/entries/value-key.ts'
import type { NameParts } from '../../search/name-query.ts'
import type { DomainName } from '../../values/domain-name.ts'
import type { NamesOfParts } from '../port/inverse.ts'
import { type ByteRange, forwardNameRange, type InverseRead, type KeyRange, type RangeBlocks } from './scan.ts'

/** Blocks of one run for one part at most: some thousand names. */
const MAX_BLOCKS_OF_PART = 64
/** Blocks of one read at most: those of some thousand parts in as many runs as an import leaves unmerged. */
const MAX_BLOCKS = 16_000

/**
 * Reads the names (`InverseReader.namesOfParts`). Sets have no events, so an entry of one run is complete, and the runs
 * are not merged: each of them has only few blocks to read, while a merge would read all runs at each part.
 */
export function* readNamesOfParts({ starts, insides }: NameParts): InverseRead<NamesOfParts> {
  // the kinds of keys in their order
  const ranges = [
    ...withoutNested(insides).map((text) => rangeOf(KEY_KIND.rotatedName, rotationRange(text, false))),
    ...withoutNested(starts.map(forwardNamePrefix)).map((prefix) => rangeOf('', forwardNameRange(prefix))),
  ]
  const request = { needs: 'blocks', ranges, most: MAX_BLOCKS_OF_PART, total: MAX_BLOCKS } as const
  const { runs, isComplete } = (yield request) as RangeBlocks
  const names = new Set<DomainName>()
  for (const blocks of runs) addNames(blocks, ranges, names)
  return { names: [...names], isComplete }
}

/** The texts in order, without those that begin with another of them. */
function withoutNested(texts: readonly string[]): string[] {
  const kept: string[] = []
  for (const text of texts.toSorted()) {
    const last = kept.at(-1)
    if (last === undefined || !text.startsWith(last)) kept.push(text)
  }
  return kept
}

function rangeOf(kind: string, { from, to }: KeyRange): ByteRange {
  return { from: latin1Bytes(kind + from), to: latin1Bytes(kind + to) }
}

/** Adds the names whose keys are in the ranges. The blocks of a run and the ranges are in the same order. */
function addNames(blocks: readonly Uint8Array[], ranges: readonly ByteRange[], names: Set<DomainName>): void {
  const cursor = new EntryCursor(blocks)
  const { key } = cursor
  let next = 0
  let isFound = ranges.length > 0 && cursor.seek(ranges[0]!.from)
  while (isFound) {
    const { keyLength } = cursor
    next = firstEndingAfter(ranges, next, key.subarray(0, keyLength))
    const range = ranges[next]
    if (range === undefined) return
    const isInside = compareKeys(key, keyLength, range.from, range.from.length) >= 0
    if (isInside) names.add(knownNameOfKey(key.toString('latin1', 0, keyLength)) as DomainName)
    isFound = isInside ? cursor.next() : cursor.seek(range.from)
  }
}

/** The number of the first range, from one on, that ends after a key. */
export function firstEndingAfter(ranges: readonly ByteRange[], from: number, key: Uint8Array): number {
  let [low, high] = [from, ranges.length]
  if (low < high && ranges[low]!.to.compare(key) > 0) return low
  while (low < high) {
    const middle = (low + high) >> 1
    if (ranges[middle]!.to.compare(key) <= 0) low = middle + 1
    else high = middle
  }
  return low
}
