/** The stored text of a state of the certificate: the fingerprint of the one that was presented. Pure. */

import type { Certificate } from './certificate.ts'

/** As of records: a list of one fingerprint, or an empty one. */
export function encodePresented(certificate: Certificate | null): string {
  return certificate === null ? '[]' : JSON.stringify([certificate.sha256])
}

/** The fingerprint in a stored text; null if no certificate was presented. */
export function presentedFingerprint(text: string): string | null {
  const [value] = JSON.parse(text) as unknown[]
  return value === undefined ? null : fingerprintOfValue(value)
}

/** Whether a stored text has the details of the certificate behind its fingerprint, as those of older releases do. */
export function hasDetails(text: string): boolean {
  return text.startsWith('[[')
}

/** The fingerprint in a value of a stored text. Older releases stored the details of the certificate behind it. */
export function fingerprintOfValue(value: unknown): string {
  return typeof value === 'string' ? value : (value as [sha256: string])[0]
}
