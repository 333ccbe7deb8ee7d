/** A cache of the lengths of document vectors, which are valid for one IDF table. */

import { vectorLength } from './cosine.ts'
import type { IdfTable } from './idf-table.ts'
import type { VectorRange } from './vector-cache.ts'

/** Documents in the cache: at most 8 MB. A document replaces the one in its slot. */
const DEFAULT_CAPACITY = 2 ** 19

/** A document's number is never given twice, and its vector never changes. */
export class LengthCache {
  private idfTable: IdfTable | null = null
  /** The number of the document in each slot plus 1, so that 0 is an empty slot. */
  private readonly documents: Float64Array
  private readonly lengths: Float64Array

  constructor(capacity = DEFAULT_CAPACITY) {
    this.documents = new Float64Array(capacity)
    this.lengths = new Float64Array(capacity)
  }

  /** Returns the length of a document's vector, weighted by the table. */
  lengthOf(document: number, vector: VectorRange, idfTable: IdfTable): number {
    if (this.idfTable !== idfTable) {
      this.idfTable = idfTable
      this.documents.fill(0)
    }
    const slot = document % this.documents.length
    if (this.documents[slot] !== document + 1) {
      this.documents[slot] = document + 1
      this.lengths[slot] = vectorLength(vector, idfTable)
    }
    return this.lengths[slot]!
  }
}
