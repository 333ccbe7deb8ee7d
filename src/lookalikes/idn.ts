/** Labels with characters outside ASCII: what they look like in ASCII, and which labels look like one of ASCII. */

import { domainToASCII, domainToUnicode } from 'node:url'
import { IDENTICAL, SIMILAR } from './confusables.ts'
import { ANY } from './edits.ts'

/** The beginning of an A-label (RFC 5890). */
const PREFIX = 'xn--'
/** Scripts that have lookalikes of most Latin letters, so that a whole label can be written in one of them. */
const SCRIPTS = [/\p{Script=Cyrillic}/u, /\p{Script=Greek}/u, /\p{Script=Armenian}/u]
/** Characters of a script that stand for one letter, and labels that are written in a script, at most. */
const MAX_CHARACTERS = 3
const MAX_LABELS = 256
const MAX_APPEARANCES = 8

/** For each character outside ASCII what it looks like, and whether UTS 39 calls it confusable with that. */
const APPEARANCES = new Map<string, { text: string; isIdentical: boolean }[]>()
for (const [table, isIdentical] of [
  [IDENTICAL, true],
  [SIMILAR, false],
] as const)
  for (const [text, characters] of Object.entries(table))
    for (const character of characters)
      APPEARANCES.set(character, [...(APPEARANCES.get(character) ?? []), { text, isIdentical }])

/** What a label looks like. `text` keeps characters that look like none of ASCII. */
export type Appearance = { text: string; differs: 'confusable' | 'diacritic' | null }

/** What a label may look like, the most likely first. A few characters look like two others. */
export function appearancesOf(label: string): [Appearance, ...Appearance[]] {
  let found: [Appearance, ...Appearance[]] = [{ text: '', differs: null }]
  for (const character of label) {
    const choices = character < '\x80' ? undefined : APPEARANCES.get(character)
    if (choices === undefined) for (const each of found) each.text += character
    else {
      const further = choices.flatMap(({ text, isIdentical }) =>
        found.map((before): Appearance => {
          const differs = isIdentical ? (before.differs ?? 'confusable') : 'diacritic'
          return { text: before.text + text, differs }
        }),
      )
      found = further.slice(0, MAX_APPEARANCES) as typeof found
    }
  }
  return found
}

/** A text without what distinguishes 0 and o, 1, i and l, m and rn: for UTS 39, they are equal or depend on the letter case. */
export function shapeOf(text: string): string {
  return text.replace(/0/g, 'o').replace(/[1i]/g, 'l').replace(/m/g, 'rn')
}

/** The characters of a label. A label that cannot be decoded is returned as it is. */
export function unicodeOf(label: string): string {
  return label.startsWith(PREFIX) ? domainToUnicode(label) || label : label
}

/** The A-label of a label; null if UTS 46 does not allow it. */
export function asciiOf(label: string): string | null {
  return isAscii(label) ? label : domainToASCII(label) || null
}

export function isAscii(label: string): boolean {
  for (let at = 0; at < label.length; at++) if (label.charCodeAt(at) > 127) return false
  return true
}

/**
 * The beginning of the A-labels in which characters outside ASCII stand for each ANY: an A-label has the ASCII
 * characters of its label first, in order, and a hyphen (RFC 3492, section 3.1). Null if there are none.
 */
export function beginningOfLabelsLike(label: string): string | null {
  const kept = label.replaceAll(ANY, '')
  return kept === '' || !isAscii(kept) ? null : `${PREFIX}${kept}-`
}

/** The labels that look like one of ASCII and have all letters of one other script. */
export function labelsOfOneScript(label: string): string[] {
  return SCRIPTS.flatMap((script) => {
    let labels = ['']
    for (const letter of label) {
      const isLetter = letter >= 'a' && letter <= 'z'
      const choices = isLetter ? charactersLike(letter, script) : [letter]
      labels = labels.flatMap((start) => choices.map((choice) => start + choice)).slice(0, MAX_LABELS)
    }
    return labels.filter((each) => !isAscii(each))
  })
}

function charactersLike(letter: string, script: RegExp): string[] {
  const shapes = letter === 'i' || letter === 'l' ? ['i', 'l'] : [letter]
  return [IDENTICAL, SIMILAR]
    .flatMap((table) => shapes.flatMap((shape) => [...(table[shape] ?? '')]))
    .filter((each) => script.test(each))
    .slice(0, MAX_CHARACTERS)
}
