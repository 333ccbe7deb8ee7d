/** The language of the synthetic world: distinct host names, and start-page text. */

import { type RandomSource, randomInt, seededRandom } from './random.ts'

const CONSONANTS = [
  'b',
  'd',
  'f',
  'g',
  'h',
  'k',
  'l',
  'm',
  'n',
  'p',
  'r',
  's',
  't',
  'v',
  'w',
  'z',
  'sh',
  'st',
  'br',
  'kr',
  'th',
]
const SYLLABLES = CONSONANTS.flatMap((consonant) => ['a', 'e', 'i', 'o', 'u'].map((vowel) => consonant + vowel))
const PREFIXES = ['', '', '', '', '', 'my-', 'the-', 'shop-', 'web-', 'go-']
const TEXT_CHARACTERS = 2048
const WORDS = Array.from({ length: 20_000 }, (_, index) => wordOf(index))

/** Returns a distinct label for every number below 2^32, with a random prefix. */
export function hostLabelOf(number: number, random: RandomSource): string {
  let label = ''
  let rest = number
  for (let at = 0; at < 5; at++) {
    label += `${SYLLABLES[rest % SYLLABLES.length]}`
    rest = Math.floor(rest / SYLLABLES.length)
  }
  return PREFIXES[randomInt(random, PREFIXES.length)] + label
}

/** About 2 KB of start-page text with frequent and rare words. */
export function startPageTextOf(random: RandomSource): string {
  let text = ''
  while (text.length < TEXT_CHARACTERS) text += `${WORDS[Math.floor(WORDS.length ** random()) - 1] ?? WORDS[0]} `
  return text.trimEnd()
}

function wordOf(index: number): string {
  const random = seededRandom(7, index, 0)
  return Array.from({ length: 1 + randomInt(random, 4) }, () => SYLLABLES[randomInt(random, SYLLABLES.length)]).join('')
}
