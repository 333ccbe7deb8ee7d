/** An IDF table of terms with given document frequencies, and vectors as the cache returns them. */

import { DocumentFrequencyHistogram, IdfTable } from '../../src/similar/query/idf-table.ts'
import type { VectorRange } from '../../src/similar/query/vector-cache.ts'
import type { TermVector } from '../../src/similar/text/term-vector.ts'

/** Any odd number. */
export const FACTOR = 40_503_019

export function idfTableOf(all: number, pages: Iterable<readonly [word: number, pages: number]>): IdfTable {
  const output = [...pages]
  const histogram = new DocumentFrequencyHistogram()
  for (const [, count] of output) histogram.add(count)
  const idfTable = new IdfTable(all, histogram, FACTOR)
  for (const [word, count] of output) idfTable.add(word, count)
  return idfTable
}

/** The vector in longer arrays, between other terms. */
export function rangeOf({ size, terms, counts }: TermVector): VectorRange {
  const range = {
    terms: new Uint32Array(size + 6).fill(5),
    counts: new Uint16Array(size + 6).fill(7),
    from: 3,
    end: 3 + size,
  }
  range.terms.set(terms.subarray(0, size), 3)
  range.counts.set(counts.subarray(0, size), 3)
  return range
}
