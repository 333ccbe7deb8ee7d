/** Derives the verdict on the certificate at port 443. */

import type { CertificateResult } from '../probe/probe-result.ts'
import type { Ssl } from './observation.ts'

/** Returns null if the certificate was not probed. */
export function sslVerdict(certificate: CertificateResult): Ssl | null {
  if (certificate.kind === 'unknown') return null
  if (certificate.kind === 'none') return 'nocert'
  return certificate.error === null ? 'valid' : 'invalid'
}
