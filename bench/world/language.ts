/** The language of the made-up world: host names without repeats, and start-page text. */

import { below, type Dice, diceOf } from './random.ts'

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

/** One label for a number below 2^32, another one for every number; the dice choose what stands before it. */
export function hostOf(number: number, dice: Dice): string {
  let label = ''
  let rest = number
  for (let at = 0; at < 5; at++) {
    label += `${SYLLABLES[rest % SYLLABLES.length]}`
    rest = Math.floor(rest / SYLLABLES.length)
  }
  return PREFIXES[below(dice, PREFIXES.length)] + label
}

/** About 2 KB of a start page: common words often, rare ones seldom. */
export function textOf(dice: Dice): string {
  let text = ''
  while (text.length < TEXT_CHARACTERS) text += `${WORDS[Math.floor(WORDS.length ** dice()) - 1] ?? WORDS[0]} `
  return text.trimEnd()
}

function wordOf(index: number): string {
  const dice = diceOf(7, index, 0)
  return Array.from({ length: 1 + below(dice, 4) }, () => SYLLABLES[below(dice, SYLLABLES.length)]).join('')
}
