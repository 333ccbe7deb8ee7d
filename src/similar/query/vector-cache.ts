/** A cache of vectors in a block of memory of fixed size. */

import { TERM_BITS, type TermVector } from '../text/term-vector.ts'

/** The lowest bits of an entry are the count of its term, which is above them. */
export const COUNT_BITS = 32 - TERM_BITS
export const MAX_COUNT = 2 ** COUNT_BITS - 1

/**
 * A vector in a longer array. A query reads one piece of memory for each vector. From `from` to `end` (exclusive): an entry
 * for each term with a count up to MAX_COUNT, ascending. From `end` to `largeEnd`: two numbers for each other term, the
 * term and its count, which is unsigned (`>>> 0`).
 */
export type VectorRange = { entries: Int32Array; from: number; end: number; largeEnd: number }

/** Numbers of 32 bits in the cache: 48 MiB. */
const DEFAULT_CAPACITY = 3 * 2 ** 22
/** A slot of a document for so many of them, half of what an average page has: few documents share a slot. */
const ENTRIES_PER_SLOT = 96
/**
 * The fields of a slot: the number of the document plus 1, so that 0 is an empty slot, and where its vector begins and
 * ends. Places count all that was written before.
 */
const SLOT_FIELDS = 4
const START = 1
const END = 2
const LARGE_END = 3

/**
 * The vectors are in a ring, where new ones overwrite the oldest. A document's number is never given twice, and its
 * vector never changes, so the cache is never wrong. But a document may have been deleted.
 */
export class VectorCache {
  private readonly range: VectorRange
  private readonly slots: Float64Array
  private readonly slotCount: number
  private written = 0

  constructor(capacity = DEFAULT_CAPACITY) {
    this.range = { entries: new Int32Array(capacity), from: 0, end: 0, largeEnd: 0 }
    this.slotCount = Math.ceil(capacity / ENTRIES_PER_SLOT)
    this.slots = new Float64Array(SLOT_FIELDS * this.slotCount)
  }

  /** Returns the vector of a document, or null. The result is valid until the next call. */
  find(document: number): VectorRange | null {
    const slot = this.slotOf(document)
    if (this.slots[slot] !== document + 1) return null
    return this.written - this.slots[slot + START]! > this.range.entries.length ? null : this.rangeOf(slot)
  }

  /** Adds a vector, and returns it as `find` does. Throws RangeError if the vector is longer than the cache. */
  add(document: number, vector: TermVector): VectorRange {
    const { entries } = this.range
    const large = largeCountsOf(vector)
    const length = vector.size + large
    if (length > entries.length) throw new RangeError('the vector is longer than the cache')
    const left = entries.length - (this.written % entries.length)
    const start = this.written + (length > left ? left : 0)
    const slot = this.slotOf(document)
    this.slots[slot] = document + 1
    this.slots[slot + START] = start
    this.slots[slot + END] = start + vector.size - large
    this.slots[slot + LARGE_END] = start + length
    this.written = start + length
    const range = this.rangeOf(slot)
    writeEntries(vector, range)
    return range
  }

  /** Removes a document. */
  delete(document: number): void {
    const slot = this.slotOf(document)
    if (this.slots[slot] === document + 1) this.slots[slot] = 0
  }

  private slotOf(document: number): number {
    return SLOT_FIELDS * (document % this.slotCount)
  }

  private rangeOf(slot: number): VectorRange {
    const { range, slots } = this
    const start = slots[slot + START]!
    range.from = start % range.entries.length
    range.end = range.from + slots[slot + END]! - start
    range.largeEnd = range.from + slots[slot + LARGE_END]! - start
    return range
  }
}

/** A vector in an array of its own. */
export function vectorRangeOf(vector: TermVector): VectorRange {
  const large = largeCountsOf(vector)
  const length = vector.size + large
  const range = { entries: new Int32Array(length), from: 0, end: vector.size - large, largeEnd: length }
  writeEntries(vector, range)
  return range
}

/** How many terms have a count above MAX_COUNT. */
function largeCountsOf({ size, counts }: TermVector): number {
  let large = 0
  for (let at = 0; at < size; at++) if (counts[at]! > MAX_COUNT) large++
  return large
}

function writeEntries({ size, terms, counts }: TermVector, { entries, from, end }: VectorRange): void {
  let [place, large] = [from, end]
  for (let at = 0; at < size; at++) {
    const [term, count] = [terms[at]!, counts[at]!]
    if (count <= MAX_COUNT) entries[place++] = (term << COUNT_BITS) | count
    else {
      entries[large++] = term
      entries[large++] = count
    }
  }
}
