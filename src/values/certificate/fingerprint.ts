/** The fingerprint that a certificate is asked by, and how many of its names are kept. Without its bytes: the page uses it. */

/** Maximum of names that are kept of a certificate, in byte order. */
export const MAX_CERTIFICATE_NAMES = 100

/**
 * Returns the lower-case form of a SHA-256 in 64 hex digits, or null for another text. Colons between bytes, as OpenSSL
 * and browsers print them, and `sha256:` in front are left out.
 */
export function parseFingerprint(text: string): string | null {
  const plain = text.replace(/^sha-?256[:=]/i, '')
  const digits = /^[0-9a-f]{2}(?::[0-9a-f]{2}){31}$/i.test(plain) ? plain.replaceAll(':', '') : plain
  return /^[0-9a-f]{64}$/i.test(digits) ? digits.toLowerCase() : null
}
