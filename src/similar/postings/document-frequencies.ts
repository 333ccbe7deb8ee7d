/** Packs document frequencies into rows of some hundred terms. */

import { BitReader, BitWriter, riceParameterFor } from '../text/bits.ts'
import { TERM_BITS } from '../text/term-vector.ts'

/** Maximum number of terms in a row. */
export const MAX_ROW_TERMS = 512

const ROW_SIZE_BITS = 10
const RICE_PARAMETER_BITS = 5
const writer = new BitWriter()
const reader = new BitReader()

/** Terms, ascending, and the document frequency of each. `size` entries are in use, and the arrays may be longer. */
export type DocumentFrequencies = { size: number; terms: Uint32Array; counts: Uint32Array }

/**
 * Packs the terms from `from` to `end` (exclusive): their number, the first term, then the difference and the frequency
 * of each.
 */
export function packDocumentFrequencies(
  { terms, counts }: DocumentFrequencies,
  from: number,
  end: number,
): Uint8Array<ArrayBuffer> {
  const parameter = riceParameterFor(terms[end - 1]! - terms[from]! + 1, end - from)
  writer.writeBits(end - from, ROW_SIZE_BITS)
  writer.writeBits(parameter, RICE_PARAMETER_BITS)
  writer.writeBits(terms[from]!, TERM_BITS)
  for (let at = from; at < end; at++) {
    if (at > from) writer.writeRice(terms[at]! - terms[at - 1]! - 1, parameter)
    writer.writeGamma(counts[at]!)
  }
  return writer.take()
}

/** Unpacks a row into arrays with room for 512 terms. Throws RangeError if the row claims more terms, or none. */
export function unpackDocumentFrequencies(row: Uint8Array, into: DocumentFrequencies): void {
  reader.open(row)
  into.size = reader.readBits(ROW_SIZE_BITS)
  if (into.size === 0 || into.size > MAX_ROW_TERMS) throw new RangeError('damaged frequencies')
  const parameter = reader.readBits(RICE_PARAMETER_BITS)
  let term = reader.readBits(TERM_BITS)
  for (let at = 0; at < into.size; at++) {
    if (at > 0) term += 1 + reader.readRice(parameter)
    into.terms[at] = term
    into.counts[at] = reader.readGamma()
  }
}

export function emptyDocumentFrequencies(capacity: number): DocumentFrequencies {
  return { size: 0, terms: new Uint32Array(capacity), counts: new Uint32Array(capacity) }
}
