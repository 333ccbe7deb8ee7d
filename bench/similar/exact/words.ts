/**
 * Splits a text into words as the service does, but independently: with regular expressions instead of a loop over
 * units.
 */

const UNSPACED = String.raw`\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}`
const RUN = new RegExp(String.raw`^[${UNSPACED}\p{Cs}\u{10000}-\u{10FFFF}]`, 'u')
const WORDS = new RegExp(
  String.raw`[${UNSPACED}\p{Cs}\u{10000}-\u{10FFFF}]+|[[\p{L}\p{M}\p{N}]--[${UNSPACED}\p{Cs}\u{10000}-\u{10FFFF}]]+`,
  'gv',
)
/** The number of UTF-16 units of a word that count. */
const WORD_UNITS = 64
const segmenter = new Intl.Segmenter('und', { granularity: 'word' })

/** Returns the words of a text in any script, in order and in lower case. */
export function wordsOf(text: string): string[] {
  const words: string[] = []
  for (const piece of text.normalize('NFC').toLowerCase().match(WORDS) ?? []) {
    if (piece.charCodeAt(0) < 0xe00 || !RUN.test(piece)) words.push(piece.slice(0, WORD_UNITS))
    else pushSegments(piece, words)
  }
  return words
}

function pushSegments(run: string, words: string[]): void {
  for (const { segment, isWordLike } of segmenter.segment(run)) {
    if (isWordLike) words.push(segment.slice(0, WORD_UNITS))
  }
}
