/**
 * Which words of a page its neighbours are looked for by: those that weigh most, and of each no more rows than a bound.
 */

import { MAX_ROW_POSTINGS } from '../postings/postings.ts'
import { countWeight } from '../text/weights.ts'
import type { WeightedDocument } from './cosine.ts'
import type { IdfTable } from './idf-table.ts'

/**
 * The bounds of a query: words read, rows of postings a word and in all, and wordings whose cosine is reckoned, so many
 * at `first`, then the `next` ones until of these `few` are among the closest.
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

/** A word to be read: by so much a posting counts for the whole of a page, and so many rows are worth reading. */
export type QueryTerm = { term: number; weight: number; rows: number }

/**
 * The words that weigh most first; where all pages `areCounted`, this one with them, without those that no other page
 * says.
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

/** The rows in which a word's postings lie: a word of few is in one, any other may begin in the middle of its first. */
function rowsForTerm(documentFrequency: number): number {
  return documentFrequency < MAX_ROW_POSTINGS / 2 ? 1 : 1 + Math.ceil(documentFrequency / MAX_ROW_POSTINGS)
}
