/** Reads elements of DER (X.690) from untrusted bytes. Pure. */

/** A certificate that breaks a rule of DER, or that is longer than the limits here. */
export class MalformedCertificate extends Error {}

export const SEQUENCE = 0x30
export const OBJECT_IDENTIFIER = 0x06

/** A part of the bytes: the content of an element from `from` to before `to`. */
export type DerElement = { tag: number; from: number; to: number }

/** Reads the element at an offset, which must end at or before `end`. `tag`: the only tag that is accepted. */
export function elementAt(der: Uint8Array, at: number, end: number, tag?: number): DerElement {
  const found = der[at]
  const first = der[at + 1]
  if (at + 2 > end || found === undefined || first === undefined) throw new MalformedCertificate('it is cut off')
  if (tag !== undefined && found !== tag) throw new MalformedCertificate('an element has another type than expected')
  if ((found & 0x1f) === 0x1f) throw new MalformedCertificate('a tag has several bytes')
  let length = first
  let from = at + 2
  if (first >= 0x80) {
    const bytes = first & 0x7f
    if (bytes === 0 || bytes > 3 || from + bytes > end) throw new MalformedCertificate('a length is invalid')
    length = 0
    for (let index = 0; index < bytes; index++) length = length * 256 + der[from + index]!
    from += bytes
  }
  if (from + length > end) throw new MalformedCertificate('an element is longer than the one around it')
  return { tag: found, from, to: from + length }
}

export function latin1Text(bytes: Uint8Array, from: number, to: number): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset + from, to - from).toString('latin1')
}

/** 60 characters at most. */
const MAX_IDENTIFIER_BYTES = 15

/** The dotted form of an object identifier (X.690, section 8.19). Throws MalformedCertificate if it is too long. */
export function identifierText(der: Uint8Array, { from, to }: DerElement): string {
  if (to === from || to - from > MAX_IDENTIFIER_BYTES || der[to - 1]! >= 0x80)
    throw new MalformedCertificate('an object identifier is invalid')
  const arcs: bigint[] = []
  let arc = 0n
  for (let at = from; at < to; at++) {
    arc = arc * 128n + BigInt(der[at]! & 0x7f)
    if (der[at]! >= 0x80) continue
    const first = arc < 80n ? arc / 40n : 2n
    arcs.push(...(arcs.length === 0 ? [first, arc - 40n * first] : [arc]))
    arc = 0n
  }
  return arcs.join('.')
}
