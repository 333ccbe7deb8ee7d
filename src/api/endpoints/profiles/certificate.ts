/** GET /certificate/SHA256: a certificate, and the domains that presented it. */

import { parseFingerprint } from '../../../values/certificate/fingerprint.ts'
import { ApiError, SESSION_ERRORS } from '../../http/errors.ts'
import { readQueryParameter } from '../../http/parameters.ts'
import type { Endpoint } from '../endpoint.ts'
import { CURSOR_ERRORS, indexPositionText, pageBody, parseIndexPosition, readPage } from '../paging.ts'
import { requireCompleteIndex } from '../pdns.ts'
import {
  DomainSchema,
  exactObject,
  nullable,
  PageMetaSchemas,
  PageParameterSchemas,
  Type,
  UtcInstantSchema,
} from '../schema.ts'
import { CertificateSchemas, certificateJson, FingerprintSchema } from './certificate-fields.ts'
import { instantJson } from './moment.ts'

const MetaSchemas = {
  ...CertificateSchemas,
  logged: nullable(UtcInstantSchema, 'When a certificate log added it; null if no log was read that has it.'),
}

export const certificate: Endpoint = {
  name: 'certificate',
  summary: 'A certificate and the domains that presented it',
  description:
    'What a certificate says, and one row for each domain and uninterrupted time in which its port 443 presented it, in ' +
    'the order of the names. There are none if it was only read from a certificate log. A page may be short before the ' +
    'last. Each response is charged as one call.',
  envelope: 'top',
  parameters: Type.Object({
    sha256: Type.String({ description: 'The SHA-256 of its bytes, 64 hex digits.', examples: ['ab'.repeat(32)] }),
    ...PageParameterSchemas,
  }),
  response: exactObject({
    meta: exactObject({ query: FingerprintSchema, certificate: exactObject(MetaSchemas), ...PageMetaSchemas }),
    result: Type.Array(
      exactObject({ target: DomainSchema, first_seen: UtcInstantSchema, last_seen: UtcInstantSchema }),
    ),
  }),
  file: null,
  errors: ['certificate_format', ...CURSOR_ERRORS, 'no_data', 'index_incomplete', ...SESSION_ERRORS],
  async handle(call) {
    const { facts, inverse } = call
    const sha256 = parseFingerprint(readQueryParameter(call.parameters))
    if (sha256 === null) throw new ApiError('certificate_format')
    const page = readPage(call, 'certificate', sha256)
    await requireCompleteIndex(inverse)
    const [known] = await facts.certificates([sha256])
    if (known == null) throw new ApiError('no_data', { msg: `The certificate ${sha256} is not on record.` })
    const { spans, position } = await inverse.presented(sha256, parseIndexPosition(page.position), page.limit)
    const rows = spans.map(
      ({ name, first, last }) =>
        `{"target":"${name}","first_seen":${instantJson(first)},"last_seen":${instantJson(last)}}`,
    )
    const logged = known.logged_at === null ? 'null' : instantJson(known.logged_at)
    const about = [`"query":"${sha256}"`, `"certificate":{${certificateJson(known.certificate)},"logged":${logged}}`]
    return { body: pageBody(page, about, rows, indexPositionText(position)), lastObserved: null }
  },
}
