/** The fields of a certificate in responses. */

import type { Certificate } from '../../../values/certificate/certificate.ts'
import { Type, UtcInstantSchema } from '../schema.ts'
import { instantJson } from './moment.ts'

export const FingerprintSchema = Type.String({ description: 'The SHA-256 of its bytes in hex.' })

export const CertificateSchemas = {
  sha256: FingerprintSchema,
  issuer: Type.String({ description: 'Its issuer as RFC 4514 writes it.' }),
  not_before: UtcInstantSchema,
  not_after: UtcInstantSchema,
  names: Type.Array(Type.String(), { description: 'Its DNS names in byte order, the first 100.' }),
  key: Type.String({ description: 'The type of its key, such as `rsa-2048` or `ec-p256`.' }),
}
export const CERTIFICATE_FIELDS = Object.keys(CertificateSchemas)

/** The members of a JSON object, without its braces. */
export function certificateJson(
  { sha256, issuer, not_before, not_after, names, key }: Certificate,
  { withNames = true } = {},
): string {
  const times = `"not_before":${instantJson(not_before)},"not_after":${instantJson(not_after)}`
  const namesJson = withNames ? `"names":${JSON.stringify(names)},` : ''
  return `"sha256":"${sha256}","issuer":${JSON.stringify(issuer)},${times},${namesJson}"key":"${key}"`
}
