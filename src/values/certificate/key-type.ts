/** The type of the public key of a certificate, such as `rsa-2048` or `ec-p256` (RFC 5280, section 4.1.2.7). Pure. */

import { type DerElement, elementAt, identifierText, OBJECT_IDENTIFIER, SEQUENCE } from './der.ts'

const BIT_STRING = 0x03
const INTEGER = 0x02

const KEY_TYPES: Readonly<Record<string, string>> = {
  '1.2.840.113549.1.1.1': 'rsa',
  '1.2.840.113549.1.1.10': 'rsa-pss',
  '1.2.840.10045.2.1': 'ec',
  '1.2.840.10040.4.1': 'dsa',
  '1.3.101.112': 'ed25519',
  '1.3.101.113': 'ed448',
  '2.16.840.1.101.3.4.3.17': 'ml-dsa-44',
  '2.16.840.1.101.3.4.3.18': 'ml-dsa-65',
  '2.16.840.1.101.3.4.3.19': 'ml-dsa-87',
}

const CURVES: Readonly<Record<string, string>> = {
  '1.2.840.10045.3.1.1': 'p192',
  '1.3.132.0.33': 'p224',
  '1.2.840.10045.3.1.7': 'p256',
  '1.3.132.0.34': 'p384',
  '1.3.132.0.35': 'p521',
  '1.3.132.0.10': 'secp256k1',
}

/**
 * Returns the type with the bits of an RSA modulus, or with the curve. A type or curve that is not listed is its object
 * identifier. `info`: a SubjectPublicKeyInfo. Throws MalformedCertificate.
 */
export function keyType(der: Uint8Array, info: DerElement): string {
  const algorithm = elementAt(der, info.from, info.to, SEQUENCE)
  const identifier = elementAt(der, algorithm.from, algorithm.to, OBJECT_IDENTIFIER)
  const id = identifierText(der, identifier)
  const type = KEY_TYPES[id] ?? id
  if (type === 'ec') return `ec-${curveOf(der, identifier.to, algorithm.to)}`
  return type.startsWith('rsa')
    ? `${type}-${modulusBits(der, elementAt(der, algorithm.to, info.to, BIT_STRING))}`
    : type
}

function curveOf(der: Uint8Array, at: number, end: number): string {
  const curve = elementAt(der, at, end)
  if (curve.tag !== OBJECT_IDENTIFIER) return 'explicit'
  const id = identifierText(der, curve)
  return CURVES[id] ?? id
}

/** The first byte of a bit string counts its unused bits, which are 0 here. */
function modulusBits(der: Uint8Array, key: DerElement): number {
  const numbers = elementAt(der, key.from + 1, key.to, SEQUENCE)
  let { from, to } = elementAt(der, numbers.from, numbers.to, INTEGER)
  while (from < to && der[from] === 0) from++
  return from === to ? 0 : 8 * (to - from) - Math.clz32(der[from]!) + 24
}
