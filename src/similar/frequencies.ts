/** Frequencies, how many wordings have a word, packed in rows of some hundred words. */

import { BitReader, BitWriter, parameterOf } from './bits.ts'
import { WORD_BITS } from './vector.ts'

/** The most words of a row. */
export const ROW_WORDS = 512

const SIZE_BITS = 10
const PARAMETER_BITS = 5
const writer = new BitWriter()
const reader = new BitReader()

/** Words, ascending, and how many wordings have each; as many as `size`. The arrays may be longer. */
export type Frequencies = { size: number; words: Uint32Array; counts: Uint32Array }

/** Packs the words from `from` to `end` (not included): how many, the first, then each one's distance and its count. */
export function packFrequencies({ words, counts }: Frequencies, from: number, end: number): Uint8Array<ArrayBuffer> {
  const parameter = parameterOf(words[end - 1]! - words[from]! + 1, end - from)
  writer.plain(end - from, SIZE_BITS)
  writer.plain(parameter, PARAMETER_BITS)
  writer.plain(words[from]!, WORD_BITS)
  for (let at = from; at < end; at++) {
    if (at > from) writer.rice(words[at]! - words[at - 1]! - 1, parameter)
    writer.gamma(counts[at]!)
  }
  return writer.take()
}

/** Unpacks a row into arrays that have room for 512 words. RangeError where the row says that it has more, or none. */
export function unpackFrequencies(row: Uint8Array, into: Frequencies): void {
  reader.open(row)
  into.size = reader.plain(SIZE_BITS)
  if (into.size === 0 || into.size > ROW_WORDS) throw new RangeError('damaged frequencies')
  const parameter = reader.plain(PARAMETER_BITS)
  let word = reader.plain(WORD_BITS)
  for (let at = 0; at < into.size; at++) {
    if (at > 0) word += 1 + reader.rice(parameter)
    into.words[at] = word
    into.counts[at] = reader.gamma()
  }
}

export function emptyFrequencies(room: number): Frequencies {
  return { size: 0, words: new Uint32Array(room), counts: new Uint32Array(room) }
}
