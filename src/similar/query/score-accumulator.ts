/** Adds up the scores of documents and finds the highest, in fixed memory that fits the processor cache. */

import type { PostingBuffer } from '../postings/postings.ts'
import { WEIGHT_LEVELS, weightOfLevel } from '../text/weights.ts'

/** Postings of one term, from `from` to `end` (exclusive). Each adds its share times `weight` to its document. */
export type ScoredPostings = { from: number; end: number; weight: number }

const SHARES = Float64Array.from({ length: WEIGHT_LEVELS }, (_, level) => weightOfLevel(level))

/** Sums are first kept per cell. Several documents may share a cell, so its sum can only be too high. */
const [MIN_CELL_BITS, MAX_CELL_BITS] = [12, 16]
/** Documents in this multiple of `limit` cells are summed individually. */
const CELL_OVERSAMPLING = 1.25
/** The low bits of a score that the threshold ignores. */
const IGNORED_SCORE_BITS = 19
/**
 * The maximum number of documents summed individually. Half of them may be documents that just reach the threshold, of
 * which there can be very many.
 */
const MAX_CANDIDATES = 4096
/** Three digits of a score of 32 bits are sorted one after another. */
const RADIX_BITS = 11
const RADIX = 2 ** RADIX_BITS

export class ScoreAccumulator {
  private readonly buffer = new Float32Array(2 ** MAX_CELL_BITS)
  private readonly table = new Uint16Array(4 * MAX_CANDIDATES)
  private readonly documents = new Float64Array(MAX_CANDIDATES + 1)
  private readonly scores = new Float32Array(MAX_CANDIDATES + 1)
  private readonly order = new Uint16Array(MAX_CANDIDATES)
  private readonly otherOrder = new Uint16Array(MAX_CANDIDATES)
  private readonly digitEnds = new Uint16Array(RADIX)

  /** Returns the documents with the highest sums of scores, highest first, at most `limit`. */
  topDocuments(postings: PostingBuffer, scored: readonly ScoredPostings[], limit: number): number[] {
    const bits = Math.min(MAX_CELL_BITS, Math.max(MIN_CELL_BITS, Math.ceil(Math.log2(postings.size + 1))))
    const cells = this.buffer.subarray(0, 2 ** bits).fill(0)
    for (const each of scored) addToCells(cells, 32 - bits, postings, each)
    const threshold = scoreThreshold(cells, Math.ceil(CELL_OVERSAMPLING * limit))
    let size = 0
    this.table.fill(0)
    this.scores.fill(0)
    for (const each of scored) size = this.sumCandidates(size, { cells, shift: 32 - bits, threshold }, postings, each)
    return Array.from(this.sortCandidates(size).subarray(0, limit), (place) => this.documents[place]!)
  }

  /**
   * Returns the places of the `size` candidates, the best first, and the first one of equals. It is a radix sort. The bits
   * of scores, which are above 0, are in the order of the scores.
   */
  private sortCandidates(size: number): Uint16Array {
    const bits = new Uint32Array(this.scores.buffer)
    let [from, to] = [this.order, this.otherOrder]
    for (let at = 0; at < size; at++) from[at] = at + 1
    for (let shift = 0; shift < 32; shift += RADIX_BITS) {
      const ends = this.digitEnds.fill(0)
      for (let at = 1; at <= size; at++) ends[(bits[at]! >>> shift) & (RADIX - 1)]!++
      for (let digit = RADIX - 2; digit >= 0; digit--) ends[digit]! += ends[digit + 1]!
      for (let at = size - 1; at >= 0; at--) to[--ends[(bits[from[at]!]! >>> shift) & (RADIX - 1)]!] = from[at]!
      ;[from, to] = [to, from]
    }
    return from.subarray(0, size)
  }

  /**
   * Adds the scores of each posting whose cell reaches the threshold to its document. `size`: the number of documents
   * before. Returns it.
   */
  private sumCandidates(
    size: number,
    { cells, shift, threshold }: { cells: Float32Array; shift: number; threshold: ScoreThreshold },
    postings: PostingBuffer,
    { from, end, weight }: ScoredPostings,
  ): number {
    const { table, documents, scores } = this
    for (let at = from; at < end; at++) {
      const document = postings.documents[at]!
      const cell = cellOf(document, shift)
      if (cells[cell]! < threshold.min) continue
      let slot = cellOf(document, TABLE_SHIFT)
      while (table[slot] !== 0 && documents[table[slot]!] !== document) slot = (slot + 1) & (table.length - 1)
      if (table[slot] === 0) {
        if (size === MAX_CANDIDATES || (size >= MAX_CANDIDATES / 2 && cells[cell]! < threshold.next)) continue
        table[slot] = ++size
        documents[size] = document
      }
      scores[table[slot]!]! += weight * SHARES[postings.levels[at]!]!
    }
    return size
  }
}

const TABLE_SHIFT = 32 - Math.log2(4 * MAX_CANDIDATES)

function addToCells(
  cells: Float32Array,
  shift: number,
  { documents, levels }: PostingBuffer,
  { from, end, weight }: ScoredPostings,
): void {
  for (let at = from; at < end; at++) cells[cellOf(documents[at]!, shift)]! += weight * SHARES[levels[at]!]!
}

function cellOf(document: number, shift: number): number {
  return Math.imul(document, 0x9e3779b1) >>> shift
}

/** Enough cells reach `min`. Fewer reach `next`, which is a sixteenth of an octave higher. */
type ScoreThreshold = { min: number; next: number }

function scoreThreshold(scores: Float32Array, limit: number): ScoreThreshold {
  const bits = new Uint32Array(scores.buffer, scores.byteOffset, scores.length)
  const counts = new Uint32Array(2 ** (32 - IGNORED_SCORE_BITS))
  for (let at = 0; at < bits.length; at++) counts[bits[at]! >>> IGNORED_SCORE_BITS]!++
  let [minBucket, reached] = [counts.length - 1, 0]
  while (minBucket > 1 && reached < limit) reached += counts[--minBucket]!
  const [min, above] = new Float32Array(
    Uint32Array.of(minBucket << IGNORED_SCORE_BITS, (minBucket + 1) << IGNORED_SCORE_BITS).buffer,
  )
  return { min: min!, next: above! }
}
