/** An IDF table of terms with given document frequencies, and vectors as the cache returns them. */

import { DocumentFrequencyHistogram, IdfTable } from '../../src/similar/query/idf-table.ts'
import { type VectorRange, vectorRangeOf } from '../../src/similar/query/vector-cache.ts'
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

/** The vector in a longer array, between entries of its own terms. */
export function rangeOf(vector: TermVector): VectorRange {
  const { entries, end, largeEnd } = vectorRangeOf(vector)
  const longer = Int32Array.from({ length: entries.length + 6 }, (_, at) => entries[at % entries.length] ?? 0)
  longer.set(entries, 3)
  return { entries: longer, from: 3, end: 3 + end, largeEnd: 3 + largeEnd }
}
