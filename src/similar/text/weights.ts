/** What a word weighs: the more often a page says it, and the fewer pages say it, the more (TF-IDF). */

/** Levels of how much a word matters to a page, three to an octave; the highest matters most. */
export const WEIGHT_LEVELS = 16
const LEVELS_PER_OCTAVE = 3
/** The logarithm of the share that the highest level stands for. */
const MAX_LEVEL_LOG2 = -3.8
const TABULATED_COUNTS = 256

const countWeights = Float64Array.from({ length: TABULATED_COUNTS }, (_, count) => 1 + Math.log(count))
const levelWeights = Float64Array.from(
  { length: WEIGHT_LEVELS },
  (_, level) => 2 ** (MAX_LEVEL_LOG2 - (WEIGHT_LEVELS - 1 - level) / LEVELS_PER_OCTAVE),
)

/** Of a word that a page says `count` times: 1 + ln count. */
export function countWeight(count: number): number {
  return count < TABULATED_COUNTS ? countWeights[count]! : 1 + Math.log(count)
}

/**
 * Of a word that `pages` of `all` pages say: ln((all + 1) / pages), never below 0: next to nothing for one that all
 * say.
 */
export function idf(documents: number, documentFrequency: number): number {
  return Math.max(0, Math.log((documents + 1) / documentFrequency))
}

/** Which level a share of a page has: the weight of a word's count by the length of the page's vector. */
export function weightLevelOf(weight: number): number {
  return Math.max(
    0,
    Math.min(
      WEIGHT_LEVELS - 1,
      Math.round(WEIGHT_LEVELS - 1 + LEVELS_PER_OCTAVE * (Math.log2(weight) - MAX_LEVEL_LOG2)),
    ),
  )
}

/** The share that a level stands for. */
export function weightOfLevel(level: number): number {
  return levelWeights[level]!
}
