/**
 * The rules that label a lookalike as an imitation or as a name of its own, by names alone. docs/performance.md has them
 * as sentences.
 */

import type { Brand } from '../../src/lookalikes/brand.ts'
import { appearancesOf, unicodeOf } from '../../src/lookalikes/idn.ts'
import type { DomainName } from '../../src/values/domain-name.ts'

/** Labels of well-known domains that are ordinary words, which others use without the brand in mind. */
const ORDINARY_WORDS = new Set(
  'advertising apple bing blogger entrust exponential flurry hike hola live parse simpli turn windows'.split(' '),
)
/** Suffixes under which a label is known if it is a word, or the name of somebody else. */
const WORD_SUFFIXES = 4
/** Characters of a brand inside a label that are no accident, and of one that is recognised after an edit. */
const MIN_READABLE = 5
const MIN_EDITED = 6

/** Returns the judgement of a name and a brand, among real names. */
export function imitationRules(names: readonly DomainName[]): (name: DomainName, brand: Brand) => boolean {
  const suffixes = new Map<string, number>()
  for (const name of names) {
    const label = name.slice(0, name.indexOf('.'))
    suffixes.set(label, (suffixes.get(label) ?? 0) + 1)
  }
  return (name, { text: own, label: ownLabel }) => {
    const label = name.slice(0, name.indexOf('.'))
    const shown = unicodeOf(label)
    const isWord = ORDINARY_WORDS.has(own)
    // 1. characters outside ASCII that make it read as the brand
    if (shown !== label && appearancesOf(shown).some(({ text }) => lettersOf(text) === lettersOf(own))) return true
    // 2. the brand can be read in it: as the label, or within it if it is long enough
    const isReadable = lettersOf(name.slice(0, name.lastIndexOf('.'))).includes(lettersOf(own))
    if (label === ownLabel || isReadable) return !isWord && own.length >= MIN_READABLE
    // 3. an edit that leaves it recognisable, unless the result is a word or somebody's name
    return !isWord && own.length >= MIN_EDITED && (suffixes.get(label) ?? 0) < WORD_SUFFIXES
  }
}

/** A text as one reads it: without hyphens and dots, with letters for the digits that look like them. */
function lettersOf(text: string): string {
  return text.replaceAll(/[-.]/g, '').replaceAll('0', 'o').replaceAll(/[1i]/g, 'l').replaceAll('5', 's')
}
