/** Postings, which page says which word and how much the word matters to it, packed in rows of about a hundred. */

import { BitReader, BitWriter, bitsOf, parameterOf } from './bits.ts'
import { WORD_BITS } from './vector.ts'
import { LEVELS } from './weights.ts'

/** The postings of a row are at most twice as many as of the shortest row that ends before a word. */
export const ROW_POSTINGS = 128
/** The place of the postings of a word that matter most: a word's levels follow one another, the highest first. */
export function placeOf(word: number, level: number): number {
  return word * LEVELS + (LEVELS - 1 - level)
}

export function wordAt(place: number): number {
  return Math.floor(place / LEVELS)
}

function levelAt(place: number): number {
  return LEVELS - 1 - (place % LEVELS)
}

/** Wordings at one place, ascending. */
export type Group = { place: number; wordings: Float64Array }

const BYTES_BITS = 16
const COUNT_BITS = 8
const BASE_BITS = 48
const SIZE_BITS = 6
const LEVEL_BITS = 4
const writer = new BitWriter()
const reader = new BitReader()

/**
 * A row of groups with at most 128 wordings in all: its bytes, how many wordings, the smallest of them and the bits of the span
 * above it, then each group's word and level, size and wordings. Stored: the form must never change.
 */
export function packRow(groups: readonly Group[]): Uint8Array<ArrayBuffer> {
  let [count, base, top] = [0, Number.MAX_SAFE_INTEGER, 0]
  for (const { wordings } of groups) {
    count += wordings.length
    base = Math.min(base, wordings[0]!)
    top = Math.max(top, wordings.at(-1)!)
  }
  const span = bitsOf(top - base)
  const distance = wordAt(groups.at(-1)!.place) - wordAt(groups[0]!.place)
  const parameter = parameterOf(distance + 1, groups.length)
  writer.plain(0, BYTES_BITS)
  writer.plain(count - 1, COUNT_BITS)
  writer.plain(base, BASE_BITS)
  writer.plain(span, SIZE_BITS)
  writer.plain(parameter, SIZE_BITS)
  let before: number | null = null
  for (const { place, wordings } of groups) {
    writePlace(place, before, parameter)
    writer.gamma(wordings.length)
    writeWordings(wordings, base, span)
    before = place
  }
  const row = writer.take()
  row[0] = row.length >>> 8
  row[1] = row.length & 255
  return row
}

function writePlace(place: number, before: number | null, parameter: number): void {
  const word = wordAt(place)
  if (before === null) writer.plain(word, WORD_BITS)
  else if (word === wordAt(before)) {
    writer.plain(0, 1)
    writer.gamma(place - before)
    return
  } else {
    writer.plain(1, 1)
    writer.rice(word - wordAt(before) - 1, parameter)
  }
  writer.plain(levelAt(place), LEVEL_BITS)
}

function writeWordings(wordings: Float64Array, base: number, span: number): void {
  const parameter = parameterOf(2 ** span, wordings.length)
  let before = base - 1
  for (const wording of wordings) {
    writer.rice(wording - before - 1, parameter)
    before = wording
  }
}

/** The groups of one row. */
export function unpackRow(row: Uint8Array): Group[] {
  reader.open(row)
  const groups: Group[] = []
  readRow((place, size, base, span) => {
    const wordings = new Float64Array(size)
    readWordings(wordings, 0, size, base, span)
    groups.push({ place, wordings })
    return true
  })
  return groups
}

/** Postings of one word. `size` of them; the arrays are as long as what may be read. */
export type Found = { size: number; wordings: Float64Array; levels: Uint8Array }

const passed = new Float64Array(ROW_POSTINGS)

/** Adds to `found` the postings of a word from rows that lie one after another, as many as it has room for. */
export function findPostings(rows: Uint8Array, word: number, found: Found): void {
  const [first, last] = [placeOf(word, LEVELS - 1), placeOf(word, 0)]
  reader.open(rows)
  const take = (place: number, size: number, base: number, span: number): boolean => {
    if (place > last) return false
    const wanted = place >= first && found.size + size <= found.wordings.length
    readWordings(wanted ? found.wordings : passed, wanted ? found.size : 0, size, base, span)
    if (!wanted) return true
    found.levels.fill(levelAt(place), found.size, found.size + size)
    found.size += size
    return true
  }
  while (reader.hasMore) readRow(take)
}

/**
 * Reads places and sizes of a row; `readGroup` reads the wordings, or answers false: then the rest is passed over. RangeError
 * where the bytes cannot be a row: whatever they are, no more is read than a row may have.
 */
function readRow(readGroup: (place: number, size: number, base: number, span: number) => boolean): void {
  const begin = reader.place
  const end = begin + 8 * reader.plain(BYTES_BITS)
  let left = reader.plain(COUNT_BITS) + 1
  const base = reader.plain(BASE_BITS)
  const span = reader.plain(SIZE_BITS)
  const parameter = reader.plain(SIZE_BITS)
  let place = reader.plain(WORD_BITS) * LEVELS + (LEVELS - 1 - reader.plain(LEVEL_BITS))
  for (;;) {
    const size = reader.gamma()
    if (end === begin || size < 1 || size > left) throw new RangeError('damaged postings')
    if (!readGroup(place, size, base, span)) break
    left -= size
    if (left <= 0) break
    if (reader.plain(1) === 0) place += reader.gamma()
    else place = (wordAt(place) + 1 + reader.rice(parameter)) * LEVELS + (LEVELS - 1 - reader.plain(LEVEL_BITS))
  }
  reader.place = end
}

function readWordings(into: Float64Array, from: number, size: number, base: number, span: number): void {
  reader.ascending(into, from, size, base - 1, parameterOf(2 ** span, size))
}
