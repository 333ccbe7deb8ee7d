/** Chooses the terms by which a page's neighbours are searched: the heaviest, with bounds on the rows read. */

import { MAX_ROW_POSTINGS } from '../postings/postings.ts'
import { countWeight } from '../text/weights.ts'
import type { WeightedDocument } from './cosine.ts'
import type { IdfTable } from './idf-table.ts'

/**
 * The limits of a query: terms, rows per term and in total, and exact cosines. The first `first` candidates get an
 * exact cosine. Then groups of `next` follow, as long as `minNewResults` of a group are among the nearest.
 */
export const QUERY_LIMITS = {
  terms: 128,
  rowsPerTerm: 30,
  rows: 1000,
  cosines: 480,
  first: 160,
  next: 80,
  minNewResults: 2,
} as const

/** A term to read: the weight of one posting in the page's score, and the number of rows to read. */
export type QueryTerm = { term: number; weight: number; rows: number }

/**
 * Returns the heaviest terms first. If the page `isIndexed` itself, terms that only this page contains are left out.
 */
export function chooseQueryTerms(
  { vector, weights }: WeightedDocument,
  idfTable: IdfTable,
  isIndexed: boolean,
): QueryTerm[] {
  const positions = Array.from(vector.terms.subarray(0, vector.size).keys())
  const shared = positions.filter((at) => idfTable.documentFrequencyOf(vector.terms[at]!) > (isIndexed ? 1 : 0))
  shared.sort((a, b) => weights[b]! - weights[a]!)
  const chosen: QueryTerm[] = []
  let rowsLeft = QUERY_LIMITS.rows
  for (const at of shared.slice(0, QUERY_LIMITS.terms)) {
    const term = vector.terms[at]!
    const rows = Math.min(rowsLeft, QUERY_LIMITS.rowsPerTerm, rowsForTerm(idfTable.documentFrequencyOf(term)))
    if (rows === 0 || weights[at] === 0) break
    chosen.push({ term, weight: weights[at]! * (weights[at]! / countWeight(vector.counts[at]!)), rows })
    rowsLeft -= rows
  }
  return chosen
}

/**
 * The number of rows with a term's postings. Few postings are in one row, and others may start in the middle of a row.
 */
function rowsForTerm(documentFrequency: number): number {
  return documentFrequency < MAX_ROW_POSTINGS / 2 ? 1 : 1 + Math.ceil(documentFrequency / MAX_ROW_POSTINGS)
}
