/** An IDF table of terms with given document frequencies. */

import { DocumentFrequencyHistogram, IdfTable } from '../../src/similar/query/idf-table.ts'

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
