/** What a word weighs: the more often a page says it, and the fewer pages say it, the more (TF-IDF). */

/** Levels of how much a word matters to a page, three to an octave; the highest matters most. */
export const LEVELS = 16
const STEPS = 3
/** The logarithm of the share that the highest level stands for. */
const TOP = -3.8
const COUNTS = 256

const logarithms = Float64Array.from({ length: COUNTS }, (_, count) => 1 + Math.log(count))
const shares = Float64Array.from({ length: LEVELS }, (_, level) => 2 ** (TOP - (LEVELS - 1 - level) / STEPS))

/** Of a word that a page says `count` times: 1 + ln count. */
export function countWeight(count: number): number {
  return count < COUNTS ? logarithms[count]! : 1 + Math.log(count)
}

/** Of a word that `pages` of `all` pages say: ln((all + 1) / pages), never below 0: next to nothing for one that all say. */
export function rarity(all: number, pages: number): number {
  return Math.max(0, Math.log((all + 1) / pages))
}

/** Which level a share of a page has: the weight of a word's count by the length of the page's vector. */
export function levelOf(share: number): number {
  return Math.max(0, Math.min(LEVELS - 1, Math.round(LEVELS - 1 + STEPS * (Math.log2(share) - TOP))))
}

/** The share that a level stands for. */
export function shareOf(level: number): number {
  return shares[level]!
}
