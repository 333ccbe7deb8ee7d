/** The texts that a label is mistaken for: one edit, letters that look or sound alike, words beside it. */

import { GLYPHS, KEYBOARD_NEIGHBOURS, LABEL_CHARACTERS, PHONETIC_PAIRS, VOWELS, WORDS } from './letters.ts'
import type { LabelReason } from './reasons.ts'

export type LabelCandidate = [label: string, reason: LabelReason]

/** Stands for any character outside ASCII. */
export const ANY = '\0'
/** Places of one text that are replaced, alone or with those that follow. */
const MAX_PLACES = 4
/** Characters of labels in which two texts are replaced: longer ones would have many thousand candidates. */
const MAX_REPLACED_TWICE = 16

/** All labels at the edit distance 1, a transposition included. */
export function* editsOf(label: string): Generator<LabelCandidate, void> {
  const characters = [...label]
  const joined = (from: number, to: number, text: string): string =>
    characters.slice(0, from).join('') + text + characters.slice(to).join('')
  for (let at = 0; at <= characters.length; at++) {
    const [before, own, after] = [characters[at - 1], characters[at], characters[at + 1]]
    for (const added of LABEL_CHARACTERS) yield* insertionsOf(joined(at, at, added), added, before, own)
    if (own === undefined) continue
    yield [joined(at, at + 1, ''), omissionOf(own, before, after)]
    yield [joined(at, at, own), 'repetition']
    if (own === '-') yield [joined(at, at + 1, ''), 'hyphen']
    if (after !== undefined) yield [joined(at, at + 2, after + own), 'transposition']
    for (const other of LABEL_CHARACTERS) yield* replacementsOf(joined(at, at + 1, other), own, other)
  }
  for (let at = 1; at < characters.length; at++)
    if (characters[at] !== '-' && characters[at - 1] !== '-') yield [joined(at, at, '.'), 'dot']
  if (label.endsWith('s')) yield [label.slice(0, -1), 'plural']
}

/** The labels with an ending of the plural, and with letters that sound alike. */
export function* furtherEditsOf(label: string): Generator<LabelCandidate, void> {
  for (const plural of ['s', 'es']) yield [label + plural, 'plural']
  for (const [one, other] of PHONETIC_PAIRS)
    for (const [from, to] of [
      [one, other],
      [other, one],
    ] as const)
      for (let at = label.indexOf(from); at >= 0; at = label.indexOf(from, at + 1))
        yield [label.slice(0, at) + to + label.slice(at + from.length), 'phonetic']
}

function* insertionsOf(
  text: string,
  added: string,
  before: string | undefined,
  after: string | undefined,
): Generator<LabelCandidate, void> {
  yield [text, added === '-' ? 'hyphen' : 'insertion']
  if (isNeighbour(before, added) || isNeighbour(after, added)) yield [text, 'keyboard']
}

function omissionOf(own: string, before: string | undefined, after: string | undefined): LabelReason {
  return own === before || own === after ? 'repetition' : 'omission'
}

function* replacementsOf(text: string, own: string, other: string): Generator<LabelCandidate, void> {
  if (other === own) return
  yield [text, 'replacement']
  if (isNeighbour(own, other)) yield [text, 'keyboard']
  if (VOWELS.includes(own) && VOWELS.includes(other)) yield [text, 'vowel']
  const bits = own.charCodeAt(0) ^ other.charCodeAt(0)
  if ((bits & (bits - 1)) === 0) yield [text, 'bit_flip']
}

function isNeighbour(own: string | undefined, other: string): boolean {
  return own !== undefined && (KEYBOARD_NEIGHBOURS.get(own)?.has(other) ?? false)
}

/**
 * The labels in which a text is replaced by one that looks like it, or two texts. ANY stands for each character of the
 * label that another outside ASCII may replace.
 */
export function* lookalikeTextsOf(label: string): Generator<LabelCandidate, void> {
  const once = [...replacedGlyphs(label, () => 0)]
  const known = new Set(once.map(({ text }) => text))
  for (const text of known) yield [text, 'homoglyph']
  if (label.length > MAX_REPLACED_TWICE) return
  for (const { text, to, at } of once) {
    // the other order of two texts gives the same label, unless the first replacement has made the second text
    for (const twice of replacedGlyphs(text, (from) => (to.includes(from) ? 0 : at)))
      if (!known.has(twice.text)) yield [twice.text, 'homoglyphs']
  }
}

/** `text`: the label after a replacement by `to`, the first one at the place `at`. */
type Replaced = { text: string; to: string; at: number }

/** Replaces one text from a place on by one that looks like it, at one or several places that follow each other. */
function* replacedGlyphs(label: string, startOf: (from: string) => number): Generator<Replaced, void> {
  for (const from of GLYPHS.keys()) {
    const places = placesOf(from, label, startOf(from))
    const choices = places.length === 0 ? [] : [...GLYPHS.get(from)!, ...(from.length === 1 ? [ANY] : [])]
    for (const [first, at] of places.entries())
      for (const to of choices) {
        let text = label.slice(0, at)
        for (let next = first; next < places.length; next++) {
          const end = places[next]! + from.length
          text += to
          yield { text: text + label.slice(end), to, at }
          text += label.slice(end, places[next + 1])
        }
      }
  }
}

function placesOf(text: string, label: string, start: number): number[] {
  const places: number[] = []
  for (
    let at = label.indexOf(text, start);
    at >= 0 && places.length < MAX_PLACES;
    at = label.indexOf(text, at + text.length)
  )
    places.push(at)
  return places
}

/** The label with each word before and after it. */
export function* combinedWith(label: string): Generator<LabelCandidate, void> {
  for (const word of WORDS)
    for (const text of [`${word}${label}`, `${word}-${label}`, `${label}${word}`, `${label}-${word}`])
      yield [text, 'combined']
}

/** The label with `www`, with its own suffix or a common one, and with the subdomain that was asked for. */
export function* mergedWith(label: string, suffix: string, subdomain: string): Generator<LabelCandidate, void> {
  for (const www of ['www', 'www-', 'ww', 'http', 'https', 'http-', 'https-']) yield [www + label, 'suffix_merged']
  const labels = suffix.split('.')
  const texts = new Set([labels.join(''), labels.join('-'), labels[0]!, labels.at(-1)!, 'com', 'net', 'org'])
  for (const text of texts) for (const merged of [label + text, `${label}-${text}`]) yield [merged, 'suffix_merged']
  if (subdomain === '') return
  for (const between of ['', '-'])
    for (const text of new Set([subdomain, subdomain.replaceAll('.', ''), subdomain.replaceAll('.', '-')]))
      yield [text + between + label, 'subdomain_merged']
}
