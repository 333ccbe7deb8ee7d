/** A cache of unpacked vectors in a block of memory of fixed size. */

import type { TermVector } from '../text/term-vector.ts'

/** A vector in longer arrays: its terms, ascending, and their counts, from `from` to `end` (exclusive). */
export type VectorRange = { terms: Uint32Array; counts: Uint16Array; from: number; end: number }

/** Terms in the cache, 6 bytes each: 48 MiB. */
const DEFAULT_CAPACITY = 2 ** 23
export const MAX_COUNT = 2 ** 16 - 1
/** There are so many terms for each slot of a document. */
const TERMS_PER_SLOT = 64

/**
 * The vectors are in a ring, where new ones overwrite the oldest. A document's number is never given twice, and its
 * vector never changes, so an entry is never stale. But a document may have been deleted.
 */
export class VectorCache {
  private readonly range: VectorRange
  /** The number of the document in each slot plus 1, so that 0 is an empty slot. */
  private readonly documents: Float64Array
  /** Where the vector of each slot begins: the number of terms written before it. */
  private readonly starts: Float64Array
  private readonly sizes: Uint32Array
  private written = 0

  constructor(capacity = DEFAULT_CAPACITY) {
    this.range = { terms: new Uint32Array(capacity), counts: new Uint16Array(capacity), from: 0, end: 0 }
    const slots = Math.ceil(capacity / TERMS_PER_SLOT)
    this.documents = new Float64Array(slots)
    this.starts = new Float64Array(slots)
    this.sizes = new Uint32Array(slots)
  }

  /** Returns the vector of a document, or null. The result is valid until the next call. */
  find(document: number): VectorRange | null {
    const slot = document % this.documents.length
    if (this.documents[slot] !== document + 1) return null
    const start = this.starts[slot]!
    return this.written - start > this.range.terms.length ? null : this.rangeAt(start, this.sizes[slot]!)
  }

  /**
   * Adds a vector, and returns it as `find` does. Counts above 65,535 become equal: only colliding words could have
   * them. Throws RangeError if the vector is longer than the cache.
   */
  add(document: number, { size, terms, counts }: TermVector): VectorRange {
    const capacity = this.range.terms.length
    if (size > capacity) throw new RangeError('the vector is longer than the cache')
    const left = capacity - (this.written % capacity)
    const start = this.written + (size > left ? left : 0)
    for (let at = 0, to = start % capacity; at < size; at++, to++) {
      this.range.terms[to] = terms[at]!
      this.range.counts[to] = Math.min(MAX_COUNT, counts[at]!)
    }
    const slot = document % this.documents.length
    this.documents[slot] = document + 1
    this.starts[slot] = start
    this.sizes[slot] = size
    this.written = start + size
    return this.rangeAt(start, size)
  }

  /** Removes a document. */
  delete(document: number): void {
    const slot = document % this.documents.length
    if (this.documents[slot] === document + 1) this.documents[slot] = 0
  }

  private rangeAt(start: number, size: number): VectorRange {
    this.range.from = start % this.range.terms.length
    this.range.end = this.range.from + size
    return this.range
  }
}
