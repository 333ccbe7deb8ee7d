/** The terms of a start page: its words as hashes with their counts, and a digest of the text. */

import { hash } from 'node:crypto'

/** `digest`: 32 hex digits. `counts`: pairs (hash, count) of 32-bit numbers, ascending by hash, each hash once. */
export type PageTerms = { digest: string; counts: Uint32Array }

/** Maximum length of a word in UTF-16 units. A longer word is truncated. */
const MAX_WORD_UNITS = 64

const LETTER_OR_DIGIT = /[\p{L}\p{N}]/u
/** A character that continues a word but is not a word by itself, such as the selector after an emoji. */
const COMBINING_MARK = /\p{M}/u
/** Scripts that write words without spaces. */
const UNSPACED_SCRIPT =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u
/** Letters and marks that hiragana and katakana share, such as the prolonged sound mark. */
const KANA_LETTER = /[[\p{Script_Extensions=Hiragana}\p{Script_Extensions=Katakana}]&&[\p{L}\p{M}]]/v
const segmenter = new Intl.Segmenter('und', { granularity: 'word' })

const UNKNOWN_KIND = 0
const GAP_KIND = 1
const WORD_KIND = 2
const UNSPACED_KIND = 3
const MARK_KIND = 4
/** The kind of each UTF-16 unit, filled on first use. */
const unitKinds = new Uint8Array(65_536)

/** Returns a digest that identifies a text without storing it: the first half of its SHA-256 in hexadecimal. */
export function textDigest(text: string): string {
  return hash('sha256', text, 'hex').slice(0, 32)
}

/**
 * Returns the terms of a text in any script. A run of letters, marks and digits is a word, case-folded, with accents.
 * In a script without spaces, words come from Unicode segmentation (UAX 29). Linear in the length of the text.
 */
export function termsOf(text: string): PageTerms {
  return { digest: textDigest(text), counts: countHashes(wordHashes(caseFolded(text.normalize('NFC')))) }
}

/** Lower case, except for the one letter that has two capitals. */
function caseFolded(text: string): string {
  return text.toLowerCase().replaceAll('ß', 'ss')
}

function countHashes(hashes: number[]): Uint32Array {
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
    const kind = unitKindAt(text, start)
    let end = start + 1
    while (end < text.length && continuesToken(kind, unitKindAt(text, end))) end++
    if (kind === WORD_KIND) hashes.push(termHash(text, start, end))
    if (kind === UNSPACED_KIND) addSegments(text.slice(start, end), hashes)
    start = end
  }
  return hashes
}

function continuesToken(kind: number, next: number): boolean {
  return next === kind || (next === MARK_KIND && kind === WORD_KIND)
}

function addSegments(run: string, hashes: number[]): void {
  for (const { segment, isWordLike } of segmenter.segment(run)) {
    if (isWordLike) hashes.push(termHash(segment, 0, segment.length))
  }
}

function unitKindAt(text: string, index: number): number {
  const unit = text.charCodeAt(index)
  const known = unitKinds[unit]!
  if (known !== UNKNOWN_KIND) return known
  const kind = classifyUnit(unit)
  unitKinds[unit] = kind
  return kind
}

/** Halves of surrogate pairs count as letters of a run that the segmentation splits. */
function classifyUnit(unit: number): number {
  if (unit >= 0xd800 && unit <= 0xdfff) return UNSPACED_KIND
  const character = String.fromCharCode(unit)
  if (UNSPACED_SCRIPT.test(character) || KANA_LETTER.test(character)) return UNSPACED_KIND
  if (COMBINING_MARK.test(character)) return MARK_KIND
  return LETTER_OR_DIGIT.test(character) ? WORD_KIND : GAP_KIND
}

/** FNV-1a over UTF-16 units, 32 bits (draft-eastlake-fnv). Stored, so it must never change. */
function termHash(text: string, start: number, end: number): number {
  let value = 0x811c9dc5
  const stop = Math.min(end, start + MAX_WORD_UNITS)
  for (let index = start; index < stop; index++) value = Math.imul(value ^ text.charCodeAt(index), 0x01000193)
  return value >>> 0
}
