/**
 * The rules that label a lookalike as an imitation or as a name of its own, by names alone. docs/performance.md has them
 * as sentences.
 */

import type { Brand } from '../../src/lookalikes/brand.ts'
import { appearanceOf, unicodeOf } from '../../src/lookalikes/idn.ts'
import { WORDS } from '../../src/lookalikes/letters.ts'

/** Names with a text from which it counts as a word, or as the name of somebody else. */
const WORD_NAMES = 25
/** Characters of a brand from which one edit leaves it recognisable. */
const MIN_EDITED = 6
/** Characters from which a brand inside a label is no accident. */
const MIN_CONTAINED = 5

/** How many names contain a text. */
export type CountNames = (text: string) => number

/** Whether a name imitates the brand. */
export function isImitation(name: string, { text: own, label: ownLabel, characters }: Brand, count: CountNames): boolean {
  const label = name.slice(0, name.indexOf('.'))
  const shown = unicodeOf(label)
  const { text, differs } = appearanceOf(shown)
  const isWord = count(own) >= WORD_NAMES
  // 1. the same label: under another suffix or as a subdomain, unless the label is a word that anyone may use
  if (label === ownLabel || shown === characters) return !isWord || own.length >= MIN_EDITED
  // 2. characters outside ASCII that make it look like the brand
  if (differs !== null && digitsAsLetters(text) === digitsAsLetters(own)) return true
  // 3. the whole brand, with words for logins and payments or a suffix, www or hyphens beside it
  const plain = name.slice(0, name.lastIndexOf('.')).replaceAll(/[-.]/g, '')
  if (plain.includes(own) && own.length >= MIN_CONTAINED && !isWord) return true
  if (plain === own || isBesideWord(plain, own)) return !isWord
  // 4. an edit that leaves a long brand recognisable, unless the result is a word or a known name
  return own.length >= MIN_EDITED && count(label) < WORD_NAMES
}

function digitsAsLetters(text: string): string {
  return text.replaceAll('0', 'o').replaceAll(/[1i]/g, 'l').replaceAll('5', 's')
}

function isBesideWord(label: string, own: string): boolean {
  if (!label.includes(own)) return false
  const rest = label.replace(own, '')
  return rest === 'www' || rest === 'com' || (WORDS as readonly string[]).includes(rest)
}
