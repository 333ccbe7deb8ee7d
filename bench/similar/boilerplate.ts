/** Text that pages share because one site builder made them: 300 templates of 20 to 150 words in each language. */

import { randomInt, seededRandom } from '../world/random.ts'
import { wordOf, wordSeparator } from './languages.ts'

export const TEMPLATES = 300
/** `text` ends with the separator between words. */
export type Template = { text: string; words: number }

/**
 * Frequent words of the language, as in shops and banners. A tenth of the words of a template are the builder's own.
 */
const FREQUENT_WORDS = 3000
const FIRST_OWN_WORD = 200_000
const SALT = 41
const cache = new Map<number, Template>()

/** Returns the template with a number below `TEMPLATES`. */
export function templateOf(language: number, number: number): Template {
  const key = language * TEMPLATES + number
  const cached = cache.get(key)
  if (cached !== undefined) return cached
  const template = makeTemplate(language, number)
  cache.set(key, template)
  return template
}

function makeTemplate(language: number, number: number): Template {
  const random = seededRandom(SALT, number, language)
  const words = 20 + randomInt(random, 131)
  const separator = wordSeparator(language)
  let text = ''
  for (let at = 0; at < words; at++) {
    const draw = random()
    const word =
      draw < 0.1 ? FIRST_OWN_WORD + number * 8 + randomInt(random, 8) : Math.floor(FREQUENT_WORDS ** random()) - 1
    text += wordOf(language, word) + separator
  }
  return { text, words }
}
