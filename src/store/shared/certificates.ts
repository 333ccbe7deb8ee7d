/** The rows of certificates, the same on every engine. */

import { type Certificate, decodeDetails, encodeDetails } from '../../values/certificate/certificate.ts'
import type { Instant } from '../../values/time.ts'
import type { KnownCertificate, LoggedCertificate } from '../port/store.ts'

/** `sha256`: in hexadecimal. */
export type CertificateRow = { sha256: string; details: string; logged_at: Instant | null }
/** `states`: by how much the number of its states changes. */
export type WrittenCertificate = { certificate: Certificate; states: number; logged_at: Instant | null }

/** Each certificate of new states once. */
export function presentedCertificates(certificates: readonly Certificate[]): WrittenCertificate[] {
  const written = new Map<string, WrittenCertificate>()
  for (const certificate of certificates) {
    const known = written.get(certificate.sha256)
    if (known) known.states++
    else written.set(certificate.sha256, { certificate, states: 1, logged_at: null })
  }
  return [...written.values()]
}

/** Each certificate of logs once, with its first time. */
export function loggedCertificates(logged: readonly LoggedCertificate[]): WrittenCertificate[] {
  const written = new Map<string, WrittenCertificate>()
  for (const { certificate, logged_at } of logged.toSorted((a, b) => b.logged_at - a.logged_at))
    written.set(certificate.sha256, { certificate, states: 0, logged_at })
  return [...written.values()]
}

/** The columns of a certificate except the fingerprint. */
export function packCertificate({ certificate, states, logged_at }: WrittenCertificate) {
  return { details: encodeDetails(certificate), states, logged_at }
}

/** In the order of `sha256s`; null for one without a row. */
export function unpackCertificates(
  sha256s: readonly string[],
  rows: readonly CertificateRow[],
): (KnownCertificate | null)[] {
  const bySha256 = new Map(
    rows.map(({ sha256, details, logged_at }) => [sha256, { certificate: decodeDetails(sha256, details), logged_at }]),
  )
  return sha256s.map((sha256) => bySha256.get(sha256) ?? null)
}
