/**
 * The TF-IDF weight of a term: it grows with its count in a page, and falls with the number of pages that contain it.
 */

/** Levels of a term's share in a document, three per octave. Higher levels mean higher shares. */
export const WEIGHT_LEVELS = 16
const LEVELS_PER_OCTAVE = 3
/** The log2 of the share that the highest level stands for. */
const MAX_LEVEL_LOG2 = -3.8
const TABULATED_COUNTS = 256

const countWeights = Float64Array.from({ length: TABULATED_COUNTS }, (_, count) => 1 + Math.log(count))
const levelWeights = Float64Array.from(
  { length: WEIGHT_LEVELS },
  (_, level) => 2 ** (MAX_LEVEL_LOG2 - (WEIGHT_LEVELS - 1 - level) / LEVELS_PER_OCTAVE),
)

/** The weight of a term that a page contains `count` times: 1 + ln count. */
export function countWeight(count: number): number {
  return count < TABULATED_COUNTS ? countWeights[count]! : 1 + Math.log(count)
}

/** ln((documents + 1) / documentFrequency), never below 0. It is almost 0 for a term of all documents. */
export function idf(documents: number, documentFrequency: number): number {
  return Math.max(0, Math.log((documents + 1) / documentFrequency))
}

/** Returns the level of a share: the weight of a term's count divided by the length of the page's vector. */
export function weightLevelOf(weight: number): number {
  return Math.max(
    0,
    Math.min(
      WEIGHT_LEVELS - 1,
      Math.round(WEIGHT_LEVELS - 1 + LEVELS_PER_OCTAVE * (Math.log2(weight) - MAX_LEVEL_LOG2)),
    ),
  )
}

/** Returns the share that a level stands for. */
export function weightOfLevel(level: number): number {
  return levelWeights[level]!
}
