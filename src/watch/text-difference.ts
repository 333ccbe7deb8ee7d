/** How much two texts of a start page differ. Pure. */

import type { TermVector } from '../similar/text/term-vector.ts'

/**
 * Returns the percentage of words that only one of both texts has, of all words of both, rounded down: 0 for the same
 * words in any order, 100 for texts without a common word. It is 100 minus the weighted Jaccard index.
 */
export function percentOfDifferentWords(a: TermVector, b: TermVector): number {
  let [common, all] = [0, 0]
  for (let [i, j] = [0, 0]; i < a.size || j < b.size; ) {
    const [termA, termB] = [i < a.size ? a.terms[i]! : Infinity, j < b.size ? b.terms[j]! : Infinity]
    const [countA, countB] = [termA <= termB ? a.counts[i++]! : 0, termB <= termA ? b.counts[j++]! : 0]
    common += Math.min(countA, countB)
    all += Math.max(countA, countB)
  }
  return all === 0 ? 0 : Math.floor((100 * (all - common)) / all)
}
