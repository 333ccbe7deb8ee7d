/** An IDF table of terms with given document frequencies, and vectors as the cache returns them. */

import { DocumentFrequencyHistogram, IdfTable } from '../../src/similar/query/idf-table.ts'
import { COUNT_BITS, type VectorRange, vectorRangeOf } from '../../src/similar/query/vector-cache.ts'
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

/** The vector in a longer array, between the words of other terms. */
export function rangeOf(vector: TermVector): VectorRange {
  const { words, end, largeEnd } = vectorRangeOf(vector)
  const longer = new Int32Array(words.length + 6).fill((5 << COUNT_BITS) | 7)
  longer.set(words, 3)
  return { words: longer, from: 3, end: 3 + end, largeEnd: 3 + largeEnd }
}
