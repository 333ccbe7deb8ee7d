/** The vector of a start page: its terms as numbers of 26 bits with their counts, packed in some 2.7 bytes per term. */

import { hash } from 'node:crypto'
import { BitReader, BitWriter, riceParameterFor } from './bits.ts'

/** Terms have this many bits. Two words with the same number count as one term. */
export const TERM_BITS = 26
export const TERM_COUNT = 2 ** TERM_BITS

/** `size` terms, ascending, each with its count. The arrays may be longer. */
export type TermVector = { size: number; terms: Uint32Array; counts: Uint32Array }

const COUNT_RANGE = 2 ** 15
/** A term takes at least two bits. */
const MAX_TERMS_PER_BYTE = 4
const writer = new BitWriter()
const reader = new BitReader()

/** Returns the vector of a text's terms (pairs of hash and count, ascending by hash). */
export function termVectorOf(termHashes: Uint32Array): TermVector {
  const pairs = new Float64Array(termHashes.length / 2)
  for (let at = 0; at < pairs.length; at++)
    pairs[at] = termOfHash(termHashes[2 * at]!) * COUNT_RANGE + Math.min(COUNT_RANGE - 1, termHashes[2 * at + 1]!)
  pairs.sort()
  const [terms, counts] = [new Uint32Array(pairs.length), new Uint32Array(pairs.length)]
  let size = 0
  for (const pair of pairs) {
    const term = Math.floor(pair / COUNT_RANGE)
    if (size === 0 || terms[size - 1] !== term) terms[size++] = term
    counts[size - 1]! += pair % COUNT_RANGE
  }
  return { size, terms, counts }
}

/** The highest bits of the hash after the finalizer of MurmurHash3. Stored, so it must never change. */
function termOfHash(hash: number): number {
  let mixed = hash ^ (hash >>> 16)
  mixed = Math.imul(mixed, 0x85ebca6b)
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35)
  return (mixed ^ (mixed >>> 16)) >>> (32 - TERM_BITS)
}

/**
 * Packs the size, then the difference from the previous term and the count of each term. Stored, so the format must
 * never change.
 */
export function packTermVector({ size, terms, counts }: TermVector): Uint8Array<ArrayBuffer> {
  writer.writeGamma(size + 1)
  const parameter = riceParameterFor(TERM_COUNT, Math.max(1, size))
  let previous = -1
  for (let at = 0; at < size; at++) {
    writer.writeRice(terms[at]! - previous - 1, parameter)
    writer.writeGamma(counts[at]!)
    previous = terms[at]!
  }
  return writer.take()
}

/**
 * Unpacks into a vector of the caller and replaces its arrays if they are too short. Throws RangeError if the bytes are
 * too few for the number of terms that they claim.
 */
export function unpackTermVector(packed: Uint8Array, into: TermVector): void {
  reader.open(packed)
  const size = reader.readGamma() - 1
  if (size < 0 || size > MAX_TERMS_PER_BYTE * packed.length) throw new RangeError('damaged vector')
  if (into.terms.length < size) Object.assign(into, emptyTermVector(2 * size))
  reader.readCounted(into.terms, into.counts, size, riceParameterFor(TERM_COUNT, Math.max(1, size)))
  into.size = size
}

export function emptyTermVector(capacity: number): TermVector {
  return { size: 0, terms: new Uint32Array(capacity), counts: new Uint32Array(capacity) }
}

/** Returns 52 bits for finding equal vectors: the beginning of the SHA-256 of the packed bytes. */
export function vectorDigest(packed: Uint8Array): number {
  const digest = hash('sha256', packed, 'buffer')
  return digest.readUIntBE(0, 6) * 16 + (digest[6]! >>> 4)
}
