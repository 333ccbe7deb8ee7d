/** The text of a synthetic page: words of its topic, in a realistic number. */

import { mixBits, type RandomSource, randomInt } from '../world/random.ts'
import { TEMPLATES, templateOf } from './boilerplate.ts'
import { wordOf, wordSeparator } from './languages.ts'
import type { Topic } from './topics.ts'

const MEDIAN_WORDS = 200
const MIN_WORDS = 4
const MAX_WORDS = 8000
/** Standard deviation of the logarithm of the length, below and above the median. */
const DEVIATION_BELOW = 1.4
const DEVIATION_ABOVE = 1.1

const TEMPLATE_SHARE = 0.57
const MIN_TEMPLATE_PAGE_WORDS = 40
/** The share of the words of a page that repeat an earlier one. */
const REPEATED_SHARE = 0.22
/**
 * The number of distinct words of a language, of a category and, at least, of a subject, and the first numbers of words
 * that are rare elsewhere.
 */
const COMMON_WORDS = 30_000
const CATEGORY_WORDS = 600
const SUBJECT_WORDS = 40
const FIRST_TOPICAL_WORD = 300
const TOPICAL_WORDS = 20_000
const FIRST_RARE_WORD = 300_000
const RARE_WORDS = 4_000_000
const FIRST_OWN_WORD = 2 ** 23

/** Returns the words with the language's separator between them. */
export function pageText(random: RandomSource, topic: Topic): string {
  const separator = wordSeparator(topic.language)
  let wordCount = randomLength(random)
  let start = ''
  if (wordCount >= MIN_TEMPLATE_PAGE_WORDS && random() < TEMPLATE_SHARE) {
    const template = templateOf(topic.language, randomZipf(random(), TEMPLATES, 1))
    start = template.text
    wordCount = Math.max(wordCount - template.words, wordCount * 0.4)
  }
  const words: string[] = []
  for (let at = 0; at < wordCount; at++) {
    const word = at > 0 && random() < REPEATED_SHARE ? words[randomInt(random, at)]! : drawWord(random, topic)
    words.push(word)
  }
  return start + words.join(separator)
}

/** A log-normal number of words. */
function randomLength(random: RandomSource): number {
  const normal = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
  const wordCount = MEDIAN_WORDS * Math.exp(normal * (normal < 0 ? DEVIATION_BELOW : DEVIATION_ABOVE))
  return Math.min(MAX_WORDS, Math.max(MIN_WORDS, wordCount))
}

function drawWord(random: RandomSource, { language, category, subject, second, shares }: Topic): string {
  let rest = random() - shares.own
  if (rest < 0) return ownWord(random, language)
  rest -= shares.subject
  if (rest < 0) return subjectWord(random, language, subject!)
  rest -= shares.second
  if (rest < 0) return subjectWord(random, language, second!)
  rest -= shares.category
  if (rest < 0) return categoryWord(random, language, category)
  const draw = random()
  return wordOf(language, randomZipf(draw * Math.sqrt(draw), COMMON_WORDS, 5))
}

/** Names that no other page has, and numbers that few others have. */
function ownWord(random: RandomSource, language: number): string {
  if (random() < 0.6) return wordOf(language, FIRST_OWN_WORD + randomInt(random, 2 ** 28))
  return ` ${randomInt(random, 10 ** (2 + randomInt(random, 6)))} `
}

function categoryWord(random: RandomSource, language: number, category: number): string {
  const draw = mixBits(randomZipf(random(), CATEGORY_WORDS, 8) * 64 + category)
  return wordOf(language, FIRST_TOPICAL_WORD + Math.floor((draw / 2 ** 32) ** 2 * TOPICAL_WORDS))
}

/** Two in three are infrequent words of the language. The others hardly occur elsewhere. */
function subjectWord(random: RandomSource, language: number, subject: number): string {
  const wordCount = SUBJECT_WORDS * (1 + (subject & 7))
  const draw = mixBits(randomZipf(random(), wordCount, 3) ^ subject)
  return wordOf(
    language,
    draw % 3 > 0 ? FIRST_TOPICAL_WORD + (draw % TOPICAL_WORDS) : FIRST_RARE_WORD + (draw % RARE_WORDS),
  )
}

/**
 * Returns a whole number below `end` by the Zipf–Mandelbrot law: proportional to 1/(n + flat), so the first `flat` are
 * about equally frequent.
 */
function randomZipf(draw: number, end: number, flat: number): number {
  return Math.min(end - 1, Math.floor(flat * (Math.exp(draw * Math.log1p(end / flat)) - 1)))
}
