/** Postings, which page says which word and how much the word matters to it, packed in rows of about a hundred. */

import { BitReader, BitWriter, bitLength, riceParameterFor } from '../text/bits.ts'
import { TERM_BITS } from '../text/term-vector.ts'
import { WEIGHT_LEVELS } from '../text/weights.ts'

/** The postings of a row are at most twice as many as of the shortest row that ends before a word. */
export const MAX_ROW_POSTINGS = 128
/** The place of the postings of a word that matter most: a word's levels follow one another, the highest first. */
export function postingKeyOf(term: number, level: number): number {
  return term * WEIGHT_LEVELS + (WEIGHT_LEVELS - 1 - level)
}

export function termOfKey(key: number): number {
  return Math.floor(key / WEIGHT_LEVELS)
}

function levelOfKey(key: number): number {
  return WEIGHT_LEVELS - 1 - (key % WEIGHT_LEVELS)
}

/** Wordings at one place, ascending. */
export type PostingGroup = { key: number; documents: Float64Array }

const ROW_LENGTH_BITS = 16
const POSTING_COUNT_BITS = 8
const DOCUMENT_BITS = 48
const RICE_BITS = 6
const LEVEL_BITS = 4
const writer = new BitWriter()
const reader = new BitReader()

/**
 * A row of groups with at most 128 wordings in all: its bytes, how many wordings, the smallest of them and the bits of
 * the span above it, then each group's word and level, size and wordings. Stored: the form must never change.
 */
export function packPostingRow(groups: readonly PostingGroup[]): Uint8Array<ArrayBuffer> {
  let [count, base, top] = [0, Number.MAX_SAFE_INTEGER, 0]
  for (const { documents } of groups) {
    count += documents.length
    base = Math.min(base, documents[0]!)
    top = Math.max(top, documents.at(-1)!)
  }
  const span = bitLength(top - base)
  const distance = termOfKey(groups.at(-1)!.key) - termOfKey(groups[0]!.key)
  const parameter = riceParameterFor(distance + 1, groups.length)
  writer.writeBits(0, ROW_LENGTH_BITS)
  writer.writeBits(count - 1, POSTING_COUNT_BITS)
  writer.writeBits(base, DOCUMENT_BITS)
  writer.writeBits(span, RICE_BITS)
  writer.writeBits(parameter, RICE_BITS)
  let previousKey: number | null = null
  for (const { key, documents } of groups) {
    writeKey(key, previousKey, parameter)
    writer.writeGamma(documents.length)
    writeDocuments(documents, base, span)
    previousKey = key
  }
  const row = writer.take()
  row[0] = row.length >>> 8
  row[1] = row.length & 255
  return row
}

function writeKey(key: number, previousKey: number | null, parameter: number): void {
  const term = termOfKey(key)
  if (previousKey === null) writer.writeBits(term, TERM_BITS)
  else if (term === termOfKey(previousKey)) {
    writer.writeBits(0, 1)
    writer.writeGamma(key - previousKey)
    return
  } else {
    writer.writeBits(1, 1)
    writer.writeRice(term - termOfKey(previousKey) - 1, parameter)
  }
  writer.writeBits(levelOfKey(key), LEVEL_BITS)
}

function writeDocuments(documents: Float64Array, base: number, span: number): void {
  const parameter = riceParameterFor(2 ** span, documents.length)
  let previous = base - 1
  for (const document of documents) {
    writer.writeRice(document - previous - 1, parameter)
    previous = document
  }
}

/** The groups of one row. */
export function unpackPostingRow(row: Uint8Array): PostingGroup[] {
  reader.open(row)
  const groups: PostingGroup[] = []
  readPostingRow((key, size, base, span) => {
    const documents = new Float64Array(size)
    readDocuments(documents, 0, size, base, span)
    groups.push({ key, documents })
    return true
  })
  return groups
}

/** Postings of one word. `size` of them; the arrays are as long as what may be read. */
export type PostingBuffer = { size: number; documents: Float64Array; levels: Uint8Array }

const skippedDocuments = new Float64Array(MAX_ROW_POSTINGS)

/** Adds to `found` the postings of a word from rows that lie one after another, as many as it has room for. */
export function readPostingsOfTerm(rows: Uint8Array, term: number, buffer: PostingBuffer): void {
  const [first, last] = [postingKeyOf(term, WEIGHT_LEVELS - 1), postingKeyOf(term, 0)]
  reader.open(rows)
  const takeGroup = (key: number, size: number, base: number, span: number): boolean => {
    if (key > last) return false
    const wanted = key >= first && buffer.size + size <= buffer.documents.length
    readDocuments(wanted ? buffer.documents : skippedDocuments, wanted ? buffer.size : 0, size, base, span)
    if (!wanted) return true
    buffer.levels.fill(levelOfKey(key), buffer.size, buffer.size + size)
    buffer.size += size
    return true
  }
  while (reader.hasMore) readPostingRow(takeGroup)
}

/**
 * Reads places and sizes of a row; `readGroup` reads the wordings, or answers false: then the rest is passed over.
 * RangeError where the bytes cannot be a row: whatever they are, no more is read than a row may have.
 */
function readPostingRow(readGroup: (key: number, size: number, base: number, span: number) => boolean): void {
  const rowStart = reader.bitPosition
  const end = rowStart + 8 * reader.readBits(ROW_LENGTH_BITS)
  let postingsLeft = reader.readBits(POSTING_COUNT_BITS) + 1
  const base = reader.readBits(DOCUMENT_BITS)
  const span = reader.readBits(RICE_BITS)
  const parameter = reader.readBits(RICE_BITS)
  let key = reader.readBits(TERM_BITS) * WEIGHT_LEVELS + (WEIGHT_LEVELS - 1 - reader.readBits(LEVEL_BITS))
  for (;;) {
    const size = reader.readGamma()
    if (end === rowStart || size < 1 || size > postingsLeft) throw new RangeError('damaged postings')
    if (!readGroup(key, size, base, span)) break
    postingsLeft -= size
    if (postingsLeft <= 0) break
    if (reader.readBits(1) === 0) key += reader.readGamma()
    else
      key =
        (termOfKey(key) + 1 + reader.readRice(parameter)) * WEIGHT_LEVELS +
        (WEIGHT_LEVELS - 1 - reader.readBits(LEVEL_BITS))
  }
  reader.bitPosition = end
}

function readDocuments(into: Float64Array, from: number, size: number, base: number, span: number): void {
  reader.readAscending(into, from, size, base - 1, riceParameterFor(2 ** span, size))
}
