/** The text of a page of the corpus: as many words as pages have, drawn from what its topic says. */

import { below, type Dice, mix } from '../world/random.ts'
import { TEMPLATES, templateOf } from './boilerplate.ts'
import { gapOf, wordOf } from './languages.ts'
import type { Topic } from './topics.ts'

const MEDIAN_WORDS = 200
const FEWEST_WORDS = 4
const MOST_WORDS = 8000
/** Of the logarithm of the length, below the median and above it. */
const DEVIATION_BELOW = 1.4
const DEVIATION_ABOVE = 1.1

const WITH_TEMPLATE = 0.57
const TEMPLATE_FROM_WORDS = 40
/** Of the words of a page: those that it takes up again, as people do with what they write of. */
const AGAIN = 0.22
/**
 * Different words: of a language, of a category in it, and at least of a subject; where each begin that are rare
 * elsewhere.
 */
const COMMON_WORDS = 30_000
const CATEGORY_WORDS = 600
const SUBJECT_WORDS = 40
const TOPICAL = 300
const TOPICAL_WORDS = 20_000
const RARE = 300_000
const RARE_WORDS = 4_000_000
const OWN = 2 ** 23

/** Words with the language's gap between them. */
export function textOf(dice: Dice, topic: Topic): string {
  const gap = gapOf(topic.language)
  let words = lengthOf(dice)
  let start = ''
  if (words >= TEMPLATE_FROM_WORDS && dice() < WITH_TEMPLATE) {
    const template = templateOf(topic.language, zipf(dice(), TEMPLATES, 1))
    start = template.text
    words = Math.max(words - template.words, words * 0.4)
  }
  const said: string[] = []
  for (let at = 0; at < words; at++) {
    const word = at > 0 && dice() < AGAIN ? said[below(dice, at)]! : drawn(dice, topic)
    said.push(word)
  }
  return start + said.join(gap)
}

/** Log-normal, in words. */
function lengthOf(dice: Dice): number {
  const normal = Math.sqrt(-2 * Math.log(1 - dice())) * Math.cos(2 * Math.PI * dice())
  const words = MEDIAN_WORDS * Math.exp(normal * (normal < 0 ? DEVIATION_BELOW : DEVIATION_ABOVE))
  return Math.min(MOST_WORDS, Math.max(FEWEST_WORDS, words))
}

function drawn(dice: Dice, { language, category, subject, second, shares }: Topic): string {
  let rest = dice() - shares.own
  if (rest < 0) return ownWord(dice, language)
  rest -= shares.subject
  if (rest < 0) return subjectWord(dice, language, subject!)
  rest -= shares.second
  if (rest < 0) return subjectWord(dice, language, second!)
  rest -= shares.category
  if (rest < 0) return categoryWord(dice, language, category)
  const chance = dice()
  return wordOf(language, zipf(chance * Math.sqrt(chance), COMMON_WORDS, 5))
}

/** Names that no other page has, and numbers that few others have. */
function ownWord(dice: Dice, language: number): string {
  if (dice() < 0.6) return wordOf(language, OWN + below(dice, 2 ** 28))
  return ` ${below(dice, 10 ** (2 + below(dice, 6)))} `
}

function categoryWord(dice: Dice, language: number, category: number): string {
  const chance = mix(zipf(dice(), CATEGORY_WORDS, 8) * 64 + category)
  return wordOf(language, TOPICAL + Math.floor((chance / 2 ** 32) ** 2 * TOPICAL_WORDS))
}

/** Two in three are words of the language, hardly frequent in it; the others are seldom met elsewhere. */
function subjectWord(dice: Dice, language: number, subject: number): string {
  const words = SUBJECT_WORDS * (1 + (subject & 7))
  const chance = mix(zipf(dice(), words, 3) ^ subject)
  return wordOf(language, chance % 3 > 0 ? TOPICAL + (chance % TOPICAL_WORDS) : RARE + (chance % RARE_WORDS))
}

/**
 * A whole number below `end` after the law of Zipf and Mandelbrot, the first `flat` about as frequent: 1/(n + flat).
 */
function zipf(chance: number, end: number, flat: number): number {
  return Math.min(end - 1, Math.floor(flat * (Math.exp(chance * Math.log1p(end / flat)) - 1)))
}
