/** The terms of a start page: its words as hashes with their counts, and a digest of the text. */

import { hash } from 'node:crypto'

/** `digest`: 32 hex digits. `counts`: pairs (hash, count) of 32-bit numbers, ascending by hash, each hash once. */
export type Terms = { digest: string; counts: Uint32Array }

/** A longer word counts by its beginning, in UTF-16 units. */
const WORD_UNITS = 64

const WORD = /[\p{L}\p{N}]/u
/** Goes on with a word; alone it is none, as the selector after an emoji. */
const MARKS = /\p{M}/u
/** Scripts that write words without a space between them. */
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u
/** Letters and marks that both kana share, as that of a long vowel. */
const KANA = /[[\p{Script_Extensions=Hiragana}\p{Script_Extensions=Katakana}]&&[\p{L}\p{M}]]/v
const segmenter = new Intl.Segmenter('und', { granularity: 'word' })

const UNKNOWN = 0
const GAP = 1
const SPACED = 2
const RUN = 3
const MARK = 4
/** What each UTF-16 unit is, learnt once. */
const kinds = new Uint8Array(65_536)

/** Digest of a text, for telling texts apart without keeping them: the first half of its SHA-256 in hexadecimal. */
export function digestOf(text: string): string {
  return hash('sha256', text, 'hex').slice(0, 32)
}

/**
 * The terms of a text of any script: letters, marks and digits in a row are a word, case folded, accents kept; where a script
 * has no spaces, words are those of Unicode's segmentation (UAX 29). Linear in the length of the text.
 */
export function termsOf(text: string): Terms {
  return { digest: digestOf(text), counts: countsOf(wordHashes(folded(text.normalize('NFC')))) }
}

/** Without case: lower case, but for the one letter whose capitals are two. */
function folded(text: string): string {
  return text.toLowerCase().replaceAll('ß', 'ss')
}

function countsOf(hashes: number[]): Uint32Array {
  const sorted = Uint32Array.from(hashes).sort()
  const counts = new Uint32Array(2 * sorted.length)
  let length = 0
  for (let index = 0; index < sorted.length; index++) {
    if (length > 0 && counts[length - 2] === sorted[index]) counts[length - 1]!++
    else {
      counts[length++] = sorted[index]!
      counts[length++] = 1
    }
  }
  return counts.slice(0, length)
}

function wordHashes(text: string): number[] {
  const hashes: number[] = []
  let start = 0
  while (start < text.length) {
    const kind = kindAt(text, start)
    let end = start + 1
    while (end < text.length && goesOn(kind, kindAt(text, end))) end++
    if (kind === SPACED) hashes.push(hashOf(text, start, end))
    if (kind === RUN) pushSegments(text.slice(start, end), hashes)
    start = end
  }
  return hashes
}

function goesOn(kind: number, next: number): boolean {
  return next === kind || (next === MARK && kind === SPACED)
}

function pushSegments(run: string, hashes: number[]): void {
  for (const { segment, isWordLike } of segmenter.segment(run)) {
    if (isWordLike) hashes.push(hashOf(segment, 0, segment.length))
  }
}

function kindAt(text: string, index: number): number {
  const unit = text.charCodeAt(index)
  const known = kinds[unit]!
  if (known !== UNKNOWN) return known
  const kind = learn(unit)
  kinds[unit] = kind
  return kind
}

/** Halves of characters beyond the first plane count as letters of a run, whose words the segmentation finds. */
function learn(unit: number): number {
  if (unit >= 0xd800 && unit <= 0xdfff) return RUN
  const character = String.fromCharCode(unit)
  if (UNSPACED.test(character) || KANA.test(character)) return RUN
  if (MARKS.test(character)) return MARK
  return WORD.test(character) ? SPACED : GAP
}

/** FNV-1a over UTF-16 units, 32 bits (draft-eastlake-fnv). Stored: it must never change. */
function hashOf(text: string, start: number, end: number): number {
  let value = 0x811c9dc5
  const stop = Math.min(end, start + WORD_UNITS)
  for (let index = start; index < stop; index++) value = Math.imul(value ^ text.charCodeAt(index), 0x01000193)
  return value >>> 0
}
