/** The value type of a certificate: what is kept of the one that a server presents, read from its bytes. Pure. */

import { hash } from 'node:crypto'
import { compareBytewise } from '../bytewise-order.ts'
import { parseName } from '../domain-name.ts'
import { type Instant, parseInstant } from '../time.ts'
import { certificateNames } from './certificate-names.ts'
import { type DerElement, elementAt, latin1Text, MalformedCertificate, SEQUENCE } from './der.ts'
import { distinguishedName } from './distinguished-name.ts'
import { MAX_CERTIFICATE_NAMES } from './fingerprint.ts'
import { keyType } from './key-type.ts'

/** Maximum of characters that are kept of an issuer. */
export const MAX_ISSUER_LENGTH = 1_024
const MAX_KEY_LENGTH = 64

const UTC_TIME = 0x17
const GENERALIZED_TIME = 0x18
const VERSION = 0xa0

/**
 * `sha256`: of its bytes, in lower-case hex. `issuer`: as RFC 4514 writes it, cut at MAX_ISSUER_LENGTH characters, ''
 * if it is empty. `names`: the DNS names of its subjectAltName, at most MAX_CERTIFICATE_NAMES, each once, in byte order;
 * a wildcard is `*.` and a name. `key`: the type of its key (`key-type.ts`).
 */
export type Certificate = {
  sha256: string
  issuer: string
  not_before: Instant
  not_after: Instant
  names: readonly string[]
  key: string
}

/**
 * Reads the DER of a certificate (RFC 5280, section 4.1), which may be expired, self-signed or hostile. Names that are
 * no domain names are left out. A time before 1970 becomes the first moment of that year. Returns null if the bytes are no such certificate. Never throws.
 */
export function readCertificate(der: Uint8Array): Certificate | null {
  try {
    const names = canonicalCertificateNames(certificateNames(der, false)).slice(0, MAX_CERTIFICATE_NAMES)
    const { issuer, validity, publicKey } = fieldsOf(der)
    const notBefore = elementAt(der, validity.from, validity.to)
    const notAfter = elementAt(der, notBefore.to, validity.to)
    return {
      sha256: hash('sha256', der, 'hex'),
      issuer: distinguishedName(der, issuer).slice(0, MAX_ISSUER_LENGTH).toWellFormed(),
      not_before: timeOf(der, notBefore),
      not_after: timeOf(der, notAfter),
      names,
      key: keyType(der, publicKey),
    }
  } catch (error) {
    if (error instanceof MalformedCertificate) return null
    throw error
  }
}

type Fields = { issuer: DerElement; validity: DerElement; publicKey: DerElement }

/** Skips the version, the serial number, the signature's algorithm and the subject. */
function fieldsOf(der: Uint8Array): Fields {
  const whole = elementAt(der, 0, der.length, SEQUENCE)
  const tbs = elementAt(der, whole.from, whole.to, SEQUENCE)
  const version = elementAt(der, tbs.from, tbs.to)
  const serial = version.tag === VERSION ? elementAt(der, version.to, tbs.to) : version
  const signature = elementAt(der, serial.to, tbs.to, SEQUENCE)
  const issuer = elementAt(der, signature.to, tbs.to, SEQUENCE)
  const validity = elementAt(der, issuer.to, tbs.to, SEQUENCE)
  const subject = elementAt(der, validity.to, tbs.to, SEQUENCE)
  return { issuer, validity, publicKey: elementAt(der, subject.to, tbs.to, SEQUENCE) }
}

/** RFC 5280, section 4.1.2.5: two digits of a year are those of 1950 to 2049. */
function timeOf(der: Uint8Array, { tag, from, to }: DerElement): Instant {
  const text = latin1Text(der, from, Math.min(to, from + 20))
  const isShort = tag === UTC_TIME && text.length === 13
  if (!isShort && !(tag === GENERALIZED_TIME && text.length === 15)) throw new MalformedCertificate('a time is invalid')
  const century = !isShort ? '' : Number(text.slice(0, 2)) >= 50 ? '19' : '20'
  const digits = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)Z$/.exec(century + text)
  if (digits === null) throw new MalformedCertificate('a time is invalid')
  const [, year, month, day, hour, minute, second] = digits
  if (Number(year) < 1970) return 0
  const time = parseInstant(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`)
  if (time === null) throw new MalformedCertificate('a time does not exist')
  return time
}

/** The names in their canonical form and order, each once, without those that are no domain names. */
function canonicalCertificateNames(texts: readonly string[]): string[] {
  const names = new Set<string>()
  for (const text of texts) {
    const name = parseCertificateName(text)
    if (name !== null) names.add(name)
  }
  return [...names].sort(compareBytewise)
}

/** The canonical form of a name in a certificate: a domain name, after `*.` for a wildcard. Null for another text. */
export function parseCertificateName(text: string): string | null {
  const isWildcard = text.startsWith('*.')
  const name = parseName(isWildcard ? text.slice(2) : text)
  return name === null ? null : isWildcard ? `*.${name}` : name
}

type CertificateValues = [sha256: string, ...DetailValues]
type DetailValues = [string, Instant, Instant, readonly string[], string]

/** The text of what was presented: a list of one, or an empty one. Fingerprints of observations depend on the order. */
export function encodeCertificate(certificate: Certificate | null): string {
  if (certificate === null) return '[]'
  return JSON.stringify([[certificate.sha256, ...detailValues(certificate)] satisfies CertificateValues])
}

/** The inverse of encodeCertificate. */
export function decodeCertificate(text: string): Certificate | null {
  const [values] = JSON.parse(text) as [CertificateValues?]
  if (values === undefined) return null
  const [sha256, ...details] = values
  return certificateOf(sha256, details)
}

/** The stored details of a certificate, without its fingerprint. */
export function encodeDetails(certificate: Certificate): string {
  return JSON.stringify(detailValues(certificate))
}

/** The inverse of encodeDetails. */
export function decodeDetails(sha256: string, text: string): Certificate {
  return certificateOf(sha256, JSON.parse(text) as DetailValues)
}

function detailValues({ issuer, not_before, not_after, names, key }: Certificate): DetailValues {
  return [issuer, not_before, not_after, names, key]
}

function certificateOf(sha256: string, [issuer, not_before, not_after, names, key]: DetailValues): Certificate {
  return { sha256, issuer, not_before, not_after, names, key }
}

/** Whether a text can be the type of a key: letters, digits, points and hyphens. */
export function isKeyType(text: string): boolean {
  return text.length <= MAX_KEY_LENGTH && /^[a-z0-9]+([.-][a-z0-9]+)*$/.test(text)
}
