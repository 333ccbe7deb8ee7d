/** The strength that OpenSSL requires of a chain at security level 2, 112 bits (SSL_CTX_set_security_level(3)). */

import type { KeyObject, X509Certificate } from 'node:crypto'

/** Bits of security that level 2 requires of a key. */
const MIN_SECURITY_BITS = 112
const MIN_DSA_BITS = { modulus: 2048, divisor: 224 }
const WEAK_DIGEST = /md[245]|sha-?1(?!\d)/i

/**
 * OpenSSL's code for the first weakness, from the site's certificate upwards. Returns null if there is none. A root's
 * own signature does not count. A key or name that OpenSSL cannot read is weak.
 */
export function weakestLinkError(chain: readonly X509Certificate[]): string | null {
  for (const [depth, certificate] of chain.entries()) {
    try {
      if (isKeyTooShort(certificate.publicKey)) return depth === 0 ? 'EE_KEY_TOO_SMALL' : 'CA_KEY_TOO_SMALL'
      const isRoot = certificate.subject === certificate.issuer
      if (!isRoot && WEAK_DIGEST.test(certificate.signatureAlgorithm ?? '')) return 'CA_MD_TOO_WEAK'
    } catch {
      return 'CERT_REJECTED'
    }
  }
  return null
}

function isKeyTooShort({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject): boolean {
  const { modulusLength, divisorLength, namedCurve = '' } = asymmetricKeyDetails ?? {}
  if (asymmetricKeyType === 'ec')
    return Number(/\d{3}/.exec(namedCurve)?.[0] ?? 2 * MIN_SECURITY_BITS) < 2 * MIN_SECURITY_BITS
  if (modulusLength === undefined) return false
  if (asymmetricKeyType !== 'dsa') return rsaSecurityBits(modulusLength) < MIN_SECURITY_BITS
  return modulusLength < MIN_DSA_BITS.modulus || (divisorLength ?? 0) < MIN_DSA_BITS.divisor
}

/**
 * The bits of security of an RSA key as OpenSSL computes them: the estimate of NIST SP 800-56B, appendix D, rounded to
 * eight. So a key slightly shorter than 2,048 bits has 112 as well.
 */
function rsaSecurityBits(modulusLength: number): number {
  const digits = modulusLength * Math.LN2
  const estimate = (1.923 * Math.cbrt(digits) * Math.cbrt(Math.log(digits)) ** 2 - 4.69) / Math.LN2
  return 8 * Math.floor((estimate + 4) / 8)
}
