/** Chooses the terms by which a page's neighbours are searched, and the number of rows to read of each. */

import { MAX_ROW_POSTINGS } from '../postings/postings.ts'
import { countWeight } from '../text/weights.ts'
import type { WeightedDocument } from './cosine.ts'
import type { IdfTable } from './idf-table.ts'

/**
 * The limits of a query, whatever the size of the index: terms, rows per term and in total, and exact cosines. The
 * first `first` candidates get an exact cosine. Then groups of `next` follow, until none of a group is among the
 * nearest.
 */
export const QUERY_LIMITS = { terms: 128, rowsPerTerm: 8, rows: 640, cosines: 1000, first: 200, next: 60 } as const

/** Up to `documents` documents, a query reads at most `rows` rows in total. */
const SMALL_INDEX = { documents: 50_000, rows: 96 } as const
/** From so many documents on, it reads at most QUERY_LIMITS.rows. */
const LARGE_INDEX_DOCUMENTS = 500_000

/** Returns the total number of rows that a query may read. It grows with the logarithm of the size of the index. */
export function maxRowsFor(documents: number): number {
  const growth = Math.log(documents / SMALL_INDEX.documents) / Math.log(LARGE_INDEX_DOCUMENTS / SMALL_INDEX.documents)
  const share = Math.min(1, Math.max(0, growth))
  return Math.round(SMALL_INDEX.rows + share * (QUERY_LIMITS.rows - SMALL_INDEX.rows))
}

/** A term to read: the weight of one posting in the page's score, and the number of rows to read, a power of two. */
type QueryTerm = { term: number; weight: number; rows: number }

/**
 * Returns the heaviest terms first. They share `maxRows` rows in proportion to their squared weights. What a term does
 * not need remains for the following ones. If the page `isIndexed` itself, terms that only this page contains are left
 * out.
 */
export function chooseQueryTerms(
  { vector, weights }: WeightedDocument,
  idfTable: IdfTable,
  { isIndexed, maxRows }: { isIndexed: boolean; maxRows: number },
): QueryTerm[] {
  const positions = Array.from(vector.terms.subarray(0, vector.size).keys())
  const shared = positions.filter(
    (at) => weights[at]! > 0 && idfTable.documentFrequencyOf(vector.terms[at]!) > (isIndexed ? 1 : 0),
  )
  shared.sort((a, b) => weights[b]! - weights[a]!)
  const heaviest = shared.slice(0, QUERY_LIMITS.terms)
  let squaresLeft = heaviest.reduce((sum, at) => sum + weights[at]! ** 2, 0)
  let rowsLeft = maxRows
  const chosen: QueryTerm[] = []
  for (const at of heaviest) {
    const term = vector.terms[at]!
    const square = weights[at]! ** 2
    const wanted = rowsForTerm(idfTable.documentFrequencyOf(term), (rowsLeft * square) / squaresLeft)
    const rows = wanted <= rowsLeft ? wanted : powerOfTwoUpTo(rowsLeft)
    squaresLeft -= square
    if (rows === 0) continue
    chosen.push({ term, weight: weights[at]! * (weights[at]! / countWeight(vector.counts[at]!)), rows })
    rowsLeft -= rows
  }
  return chosen
}

/**
 * The power of two that is closest to the term's share, but not more rows than its postings need. Few postings are in
 * one row, which is always read. More of them may start in the middle of a row.
 */
function rowsForTerm(documentFrequency: number, share: number): number {
  if (documentFrequency < MAX_ROW_POSTINGS / 2) return 1
  const needed = 1 + Math.ceil(documentFrequency / MAX_ROW_POSTINGS)
  return powerOfTwo(Math.min(share, needed, QUERY_LIMITS.rowsPerTerm))
}

/** Returns the power of two that is closest by ratio, or 0 below a half. */
function powerOfTwo(number: number): number {
  return number < 0.5 ? 0 : 2 ** Math.max(0, Math.round(Math.log2(number)))
}

/** Returns the largest power of two up to a whole number, or 0 for 0. */
function powerOfTwoUpTo(number: number): number {
  return number === 0 ? 0 : 2 ** Math.floor(Math.log2(number))
}
