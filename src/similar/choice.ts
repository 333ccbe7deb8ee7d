/** Which words of a page its neighbours are looked for by: those that weigh most, and of each no more rows than a bound. */

import type { Weighed } from './cosine.ts'
import { ROW_POSTINGS } from './postings.ts'
import type { Rarities } from './rarities.ts'
import { countWeight } from './weights.ts'

/**
 * The bounds of a query: words read, rows of postings a word and in all, and wordings whose cosine is reckoned, so many at `first`,
 * then the `next` ones until of these `few` are among the closest.
 */
export const QUERY = { words: 128, rowsOfWord: 30, rows: 1000, cosines: 480, first: 160, next: 80, few: 2 } as const

/** A word to be read: by so much a posting counts for the whole of a page, and so many rows are worth reading. */
export type Chosen = { word: number; weight: number; rows: number }

/** The words that weigh most first; where all pages `areCounted`, this one with them, without those that no other page says. */
export function chooseWords({ vector, weights }: Weighed, rarities: Rarities, areCounted: boolean): Chosen[] {
  const places = Array.from(vector.words.subarray(0, vector.size).keys())
  const shared = places.filter((at) => rarities.pagesOf(vector.words[at]!) > (areCounted ? 1 : 0))
  shared.sort((a, b) => weights[b]! - weights[a]!)
  const chosen: Chosen[] = []
  let left = QUERY.rows
  for (const at of shared.slice(0, QUERY.words)) {
    const word = vector.words[at]!
    const rows = Math.min(left, QUERY.rowsOfWord, rowsFor(rarities.pagesOf(word)))
    if (rows === 0 || weights[at] === 0) break
    chosen.push({ word, weight: weights[at]! * (weights[at]! / countWeight(vector.counts[at]!)), rows })
    left -= rows
  }
  return chosen
}

/** The rows in which a word's postings lie: a word of few is in one, any other may begin in the middle of its first. */
function rowsFor(pages: number): number {
  return pages < ROW_POSTINGS / 2 ? 1 : 1 + Math.ceil(pages / ROW_POSTINGS)
}
