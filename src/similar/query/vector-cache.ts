/** A cache of vectors, packed into words, in a block of memory of fixed size. */

import { TERM_BITS, type TermVector } from '../text/term-vector.ts'

/** The lowest bits of a word are the count of its term, which is above them. */
export const COUNT_BITS = 32 - TERM_BITS
export const MAX_COUNT = 2 ** COUNT_BITS - 1

/**
 * A vector in a longer array, so that a query reads one piece of memory for each: from `from` to `end` (exclusive), a word
 * for each term with a count up to MAX_COUNT, ascending. Then, up to `largeEnd`, each other term and its count.
 */
export type VectorRange = { words: Int32Array; from: number; end: number; largeEnd: number }

/** Words in the cache: 48 MiB. */
const DEFAULT_CAPACITY = 3 * 2 ** 22
/** There are so many words for each slot of a document. */
const WORDS_PER_SLOT = 96
/**
 * The fields of a slot: the number of the document plus 1, so that 0 is an empty slot, and where its vector begins and
 * ends: the number of words written before.
 */
const SLOT_FIELDS = 4
const START = 1
const END = 2
const LARGE_END = 3

/**
 * The vectors are in a ring, where new ones overwrite the oldest. A document's number is never given twice, and its
 * vector never changes, so an entry is never stale. But a document may have been deleted.
 */
export class VectorCache {
  private readonly range: VectorRange
  private readonly slots: Float64Array
  private readonly slotCount: number
  private written = 0

  constructor(capacity = DEFAULT_CAPACITY) {
    this.range = { words: new Int32Array(capacity), from: 0, end: 0, largeEnd: 0 }
    this.slotCount = Math.ceil(capacity / WORDS_PER_SLOT)
    this.slots = new Float64Array(SLOT_FIELDS * this.slotCount)
  }

  /** Returns the vector of a document, or null. The result is valid until the next call. */
  find(document: number): VectorRange | null {
    const slot = this.slotOf(document)
    if (this.slots[slot] !== document + 1) return null
    return this.written - this.slots[slot + START]! > this.range.words.length ? null : this.rangeOf(slot)
  }

  /** Adds a vector, and returns it as `find` does. Throws RangeError if the vector is longer than the cache. */
  add(document: number, vector: TermVector): VectorRange {
    const { words } = this.range
    const large = largeCountsOf(vector)
    const length = vector.size + large
    if (length > words.length) throw new RangeError('the vector is longer than the cache')
    const left = words.length - (this.written % words.length)
    const start = this.written + (length > left ? left : 0)
    const slot = this.slotOf(document)
    this.slots[slot] = document + 1
    this.slots[slot + START] = start
    this.slots[slot + END] = start + vector.size - large
    this.slots[slot + LARGE_END] = start + length
    this.written = start + length
    const range = this.rangeOf(slot)
    packWords(vector, range)
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
    range.from = start % range.words.length
    range.end = range.from + slots[slot + END]! - start
    range.largeEnd = range.from + slots[slot + LARGE_END]! - start
    return range
  }
}

/** A vector in words of its own. */
export function vectorRangeOf(vector: TermVector): VectorRange {
  const large = largeCountsOf(vector)
  const length = vector.size + large
  const range = { words: new Int32Array(length), from: 0, end: vector.size - large, largeEnd: length }
  packWords(vector, range)
  return range
}

/** How many terms have a count above MAX_COUNT. */
function largeCountsOf({ size, counts }: TermVector): number {
  let large = 0
  for (let at = 0; at < size; at++) if (counts[at]! > MAX_COUNT) large++
  return large
}

function packWords({ size, terms, counts }: TermVector, { words, from, end }: VectorRange): void {
  let [place, large] = [from, end]
  for (let at = 0; at < size; at++) {
    const [term, count] = [terms[at]!, counts[at]!]
    if (count <= MAX_COUNT) words[place++] = (term << COUNT_BITS) | count
    else {
      words[large++] = term
      words[large++] = count
    }
  }
}
