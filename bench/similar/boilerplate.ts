/** What pages have in common because one site builder made them: 300 templates of 20 to 150 words, in each language. */

import { below, diceOf } from '../world/random.ts'
import { gapOf, wordOf } from './languages.ts'

export const TEMPLATES = 300
/** `text` ends with the gap between words. */
export type Template = { text: string; words: number }

/** Words of shops and banners, frequent ones of the language; a few in each template are the builder's own. */
const FREQUENT = 3000
const OWN = 200_000
const SALT = 41
const made = new Map<number, Template>()

/** The template of a number below `TEMPLATES`. */
export function templateOf(language: number, number: number): Template {
  const key = language * TEMPLATES + number
  const known = made.get(key)
  if (known !== undefined) return known
  const template = make(language, number)
  made.set(key, template)
  return template
}

function make(language: number, number: number): Template {
  const dice = diceOf(SALT, number, language)
  const words = 20 + below(dice, 131)
  const gap = gapOf(language)
  let text = ''
  for (let at = 0; at < words; at++) {
    const chance = dice()
    const word = chance < 0.1 ? OWN + number * 8 + below(dice, 8) : Math.floor(FREQUENT ** dice()) - 1
    text += wordOf(language, word) + gap
  }
  return { text, words }
}
