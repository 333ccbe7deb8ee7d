/** The strength that OpenSSL asks of a chain at its security level 2, 112 bits (SSL_CTX_set_security_level(3)). */

import type { KeyObject, X509Certificate } from 'node:crypto'

const SHORTEST = 2048
const SHORTEST_CURVE = 224
const WEAK_DIGEST = /md[245]|sha-?1(?!\d)/i

/**
 * OpenSSL's code for the first weakness from the site's own certificate up, or null; a root's own signature counts for nothing.
 * A key or name at which OpenSSL throws, as it cannot be read, is weak.
 */
export function weaknessOf(chain: readonly X509Certificate[]): string | null {
  for (const [depth, certificate] of chain.entries()) {
    try {
      if (isShort(certificate.publicKey)) return depth === 0 ? 'EE_KEY_TOO_SMALL' : 'CA_KEY_TOO_SMALL'
      const isRoot = certificate.subject === certificate.issuer
      if (!isRoot && WEAK_DIGEST.test(certificate.signatureAlgorithm ?? '')) return 'CA_MD_TOO_WEAK'
    } catch {
      return 'CERT_REJECTED'
    }
  }
  return null
}

function isShort({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject): boolean {
  const { modulusLength, namedCurve = '' } = asymmetricKeyDetails ?? {}
  if (asymmetricKeyType === 'ec') return Number(/\d{3}/.exec(namedCurve)?.[0] ?? SHORTEST_CURVE) < SHORTEST_CURVE
  return modulusLength !== undefined && modulusLength < SHORTEST
}
