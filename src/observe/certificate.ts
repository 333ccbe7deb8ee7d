/** The verdict on the certificate that port 443 showed. */

import type { CertificateResult } from '../probe/probe-result.ts'
import type { Ssl } from './observation.ts'

/** Null where it was not looked at. */
export function sslVerdict(certificate: CertificateResult): Ssl | null {
  if (certificate.kind === 'unknown') return null
  if (certificate.kind === 'none') return 'nocert'
  return certificate.error === null ? 'valid' : 'invalid'
}
