/** Packs postings (which document contains which term, with which weight) into rows of about two hundred. */

import { BitReader, BitWriter, bitLength, riceParameterFor } from '../text/bits.ts'
import { TERM_BITS } from '../text/term-vector.ts'
import { WEIGHT_LEVELS } from '../text/weights.ts'

/** Maximum postings of a row, twice as many as the shortest row that ends before a term. */
export const MAX_ROW_POSTINGS = 256
/** The sort key of a term's postings: the levels of a term follow one another, the highest first. */
export function postingKeyOf(term: number, level: number): number {
  return term * WEIGHT_LEVELS + (WEIGHT_LEVELS - 1 - level)
}

export function termOfKey(key: number): number {
  return Math.floor(key / WEIGHT_LEVELS)
}

/** The first key behind a term; null: behind all terms. */
export function termEnd(term: number | null): number {
  return ((term ?? 2 ** TERM_BITS - 1) + 1) * WEIGHT_LEVELS
}

function levelOfKey(key: number): number {
  return WEIGHT_LEVELS - 1 - (key % WEIGHT_LEVELS)
}

/** The documents with one key, ascending. */
export type PostingGroup = { key: number; documents: Float64Array }

const ROW_LENGTH_BITS = 16
const POSTING_COUNT_BITS = 8
const DOCUMENT_BITS = 48
const RICE_BITS = 6
const LEVEL_BITS = 4
const writer = new BitWriter()
const reader = new BitReader()

/**
 * Packs groups of at most 256 documents in total: length of the row, number of documents, the lowest document and the
 * bits of the range above it. The term and level, size and documents of each group follow. Stored, so the format must
 * never change.
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

/** Unpacks the groups of one row. */
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

/** A buffer for the postings of one term. `size` entries are in use, and the capacity of the arrays limits a read. */
export type PostingBuffer = { size: number; documents: Float64Array; levels: Uint8Array }

const skippedDocuments = new Float64Array(MAX_ROW_POSTINGS)

/** Appends the postings of a term from consecutive rows to `buffer`, as many as fit. */
export function readPostingsOfTerm(rows: Uint8Array, term: number, buffer: PostingBuffer): void {
  const [first, last] = [postingKeyOf(term, WEIGHT_LEVELS - 1), postingKeyOf(term, 0)]
  reader.open(rows)
  const takeGroup = (key: number, size: number, base: number, span: number): boolean => {
    if (key > last) return false
    const isWanted = key >= first && buffer.size + size <= buffer.documents.length
    readDocuments(isWanted ? buffer.documents : skippedDocuments, isWanted ? buffer.size : 0, size, base, span)
    if (!isWanted) return true
    buffer.levels.fill(levelOfKey(key), buffer.size, buffer.size + size)
    buffer.size += size
    return true
  }
  while (reader.hasMore) readPostingRow(takeGroup)
}

/**
 * Reads keys and sizes of a row. `readGroup` reads the documents, or returns false to skip the rest. Throws RangeError
 * if the bytes are not a valid row. It never reads more postings than a row may have.
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
