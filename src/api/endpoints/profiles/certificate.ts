/** GET /certificate/SHA256: a certificate, and the domains that presented it. */

import { parseFingerprint } from '../../../values/certificate/certificate.ts'
import { ApiError } from '../../http/errors.ts'
import { readLimitParameter, readQueryParameter } from '../../http/parameters.ts'
import type { Endpoint } from '../endpoint.ts'
import { type CursorScope, indexPositionText, nextCursor, readIndexPosition } from '../paging.ts'
import { requireCompleteIndex } from '../pdns.ts'
import {
  DEFAULT_PAGE_ROWS,
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
  errors: [
    'certificate_format',
    'cursor_invalid',
    'cursor_expired',
    'cursor_mismatch',
    'no_data',
    'index_incomplete',
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
    await requireCompleteIndex(inverse)
    const [known] = await facts.certificates([sha256])
    if (known == null) throw new ApiError('no_data', { msg: `The certificate ${sha256} is not on record.` })
    const { spans, position } = await inverse.presented(sha256, after, limit)
    const loggedJson = known.logged_at === null ? 'null' : instantJson(known.logged_at)
    const cursor = nextCursor(call, scope, indexPositionText(position))
    const rows = spans.map(
      ({ name, first, last }) =>
        `{"target":"${name}","first_seen":${instantJson(first)},"last_seen":${instantJson(last)}}`,
    )
    const meta =
      `"query":"${sha256}","certificate":{${certificateJson(known.certificate)},"logged":${loggedJson}},"limit":${limit},` +
      `"max_limit":${maxLimit},"rcode":200,"msg":"ok","next":${cursor}`
    return { body: [`{"meta":{${meta}},"result":[${rows.join()}]}`], lastObserved: null }
  },
}
