/** The vector of a start page: its words as numbers of 26 bits and how often it says each, packed in some 2.7 bytes a word. */

import { hash } from 'node:crypto'
import { BitReader, BitWriter, parameterOf } from './bits.ts'

/** So many different words there may be: two that share a number count as one. */
export const WORD_BITS = 26
export const WORDS = 2 ** WORD_BITS

/** `size` words, ascending, each with its count. The arrays may be longer. */
export type Vector = { size: number; words: Uint32Array; counts: Uint32Array }

const COUNT = 2 ** 15
/** A word takes two bits at least. */
const MOST_WORDS_A_BYTE = 4
const writer = new BitWriter()
const reader = new BitReader()

/** The vector of a text's terms (pairs of hash and count, ascending by hash). */
export function vectorOf(terms: Uint32Array): Vector {
  const pairs = new Float64Array(terms.length / 2)
  for (let at = 0; at < pairs.length; at++)
    pairs[at] = wordOf(terms[2 * at]!) * COUNT + Math.min(COUNT - 1, terms[2 * at + 1]!)
  pairs.sort()
  const [words, counts] = [new Uint32Array(pairs.length), new Uint32Array(pairs.length)]
  let size = 0
  for (const pair of pairs) {
    const word = Math.floor(pair / COUNT)
    if (size === 0 || words[size - 1] !== word) words[size++] = word
    counts[size - 1]! += pair % COUNT
  }
  return { size, words, counts }
}

/** The highest bits of the hash, after its bits were mixed (the finalizer of MurmurHash3). Stored: it must never change. */
function wordOf(hash: number): number {
  let mixed = hash ^ (hash >>> 16)
  mixed = Math.imul(mixed, 0x85ebca6b)
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35)
  return (mixed ^ (mixed >>> 16)) >>> (32 - WORD_BITS)
}

/** Size, then each word as its distance from the one before it and its count. Stored: the form must never change. */
export function packVector({ size, words, counts }: Vector): Uint8Array<ArrayBuffer> {
  writer.gamma(size + 1)
  const parameter = parameterOf(WORDS, Math.max(1, size))
  let before = -1
  for (let at = 0; at < size; at++) {
    writer.rice(words[at]! - before - 1, parameter)
    writer.gamma(counts[at]!)
    before = words[at]!
  }
  return writer.take()
}

/**
 * Unpacks into a vector of one's own, whose arrays are replaced by longer ones where they are too short. RangeError where the
 * bytes are too few for as many words as they say.
 */
export function unpackVector(packed: Uint8Array, into: Vector): void {
  reader.open(packed)
  const size = reader.gamma() - 1
  if (size < 0 || size > MOST_WORDS_A_BYTE * packed.length) throw new RangeError('damaged vector')
  if (into.words.length < size) Object.assign(into, emptyVector(2 * size))
  reader.counted(into.words, into.counts, size, parameterOf(WORDS, Math.max(1, size)))
  into.size = size
}

export function emptyVector(room: number): Vector {
  return { size: 0, words: new Uint32Array(room), counts: new Uint32Array(room) }
}

/** A number of at most 52 bits by which equal vectors are found: the beginning of the SHA-256 of the packed bytes. */
export function digestOfVector(packed: Uint8Array): number {
  const digest = hash('sha256', packed, 'buffer')
  return digest.readUIntBE(0, 6) * 16 + (digest[6]! >>> 4)
}
