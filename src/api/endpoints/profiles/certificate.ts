/** GET /certificate/SHA256: a certificate, and the domains that presented it. */

import { parseFingerprint } from '../../../values/certificate/certificate.ts'
import { ApiError } from '../../http/errors.ts'
import { readLimitParameter, readQueryParameter } from '../../http/parameters.ts'
import type { Endpoint } from '../endpoint.ts'
import { type CursorScope, indexPositionText, nextCursor, readIndexPosition } from '../paging.ts'
import {
  DEFAULT_PAGE_ROWS,
  DomainSchema,
  exactObject,
  PageMetaSchemas,
  PageParameterSchemas,
  Type,
  UtcInstantSchema,
} from '../schema.ts'
import { CertificateSchemas, certificateJson, FingerprintSchema } from './certificate-fields.ts'
import { instantJson } from './moment.ts'

export const certificate: Endpoint = {
  name: 'certificate',
  summary: 'A certificate and the domains that presented it',
  description:
    'What a certificate says, and one row for each domain and uninterrupted time in which its port 443 presented it, in ' +
    'the order of the names. A page may be short before the last. Each response is charged as one call.',
  envelope: 'top',
  parameters: Type.Object({
    sha256: Type.String({ description: 'The SHA-256 of its bytes, 64 hex digits.', examples: ['ab'.repeat(32)] }),
    ...PageParameterSchemas,
  }),
  response: exactObject({
    meta: exactObject({ query: FingerprintSchema, certificate: exactObject(CertificateSchemas), ...PageMetaSchemas }),
    result: Type.Array(
      exactObject({ target: DomainSchema, first_seen: UtcInstantSchema, last_seen: UtcInstantSchema }),
    ),
  }),
  file: null,
  errors: [
    'certificate_format',
    'cursor_invalid',
    'cursor_expired',
    'cursor_mismatch',
    'no_data',
    'session_missing',
    'origin_refused',
  ],
  async handle(call) {
    const { parameters, caller, facts, inverse } = call
    const sha256 = parseFingerprint(readQueryParameter(parameters))
    if (sha256 === null) throw new ApiError('certificate_format')
    const maxLimit = caller.limits.pageRows
    const limit = readLimitParameter(parameters, DEFAULT_PAGE_ROWS, maxLimit)
    const scope: CursorScope = { endpoint: 'certificate', query: sha256, type: '' }
    const after = readIndexPosition(call, scope)
    const { spans, position } = await inverse.certificates({ sha256 }, after, limit)
    const [first] = spans.length > 0 ? spans : (await inverse.certificates({ sha256 }, null, 1)).spans
    const [state] = first ? (await facts.certificateHistory(first.name, first.first + 1, 1)).states : []
    if (!state?.certificate) throw new ApiError('no_data', { msg: `No domain presented the certificate ${sha256}.` })
    const cursor = nextCursor(call, scope, indexPositionText(position))
    const rows = spans.map(
      ({ name, first, last }) =>
        `{"target":"${name}","first_seen":${instantJson(first)},"last_seen":${instantJson(last)}}`,
    )
    const meta =
      `"query":"${sha256}","certificate":{${certificateJson(state.certificate)}},"limit":${limit},` +
      `"max_limit":${maxLimit},"rcode":200,"msg":"ok","next":${cursor}`
    return { body: [`{"meta":{${meta}},"result":[${rows.join()}]}`], lastObserved: null }
  },
}
