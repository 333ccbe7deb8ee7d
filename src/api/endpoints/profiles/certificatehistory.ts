/** GET /domain/NAME/certificates: the certificates that a domain presented, newest first. */

import { readLimitParameter } from '../../http/parameters.ts'
import { authorizeHistory, maxStatesOf } from '../dnshistory.ts'
import type { Endpoint, EndpointCall, EndpointResult } from '../endpoint.ts'
import { type CursorScope, nextCursor, readCursorPosition, readNextParameter } from '../paging.ts'
import {
  DomainSchema,
  exactObject,
  limitParameter,
  PageMetaSchemas,
  PageParameterSchemas,
  planLimitsText,
  Type,
  UtcInstantSchema,
} from '../schema.ts'
import { CertificateSchemas, certificateJson } from './certificate-fields.ts'
import { instantJson } from './moment.ts'
import { firstAnswer, type RequestedName, RequestedSchema, requestedNames } from './requested-name.ts'

const DEFAULT_STATES = 10

export const certificatehistory: Endpoint = {
  name: 'certificatehistory',
  summary: 'Certificates of a domain',
  description:
    'The certificates that port 443 of a domain presented, newest first, with the first and the last time of each. A ' +
    'time without a certificate is no row. A `name` is read as in `/domain/NAME`, and the plan is that of `/dnshistory`. ' +
    'A page may be short before the last. `/domain/NAME/named-certificates` lists those that others presented for it.',
  envelope: 'top',
  parameters: Type.Object({
    name: Type.String({ description: 'A domain.', examples: ['example.com'] }),
    limit: Type.Optional(limitParameter(DEFAULT_STATES, `Certificates per page: ${planLimitsText('historyStates')}.`)),
    next: PageParameterSchemas.next,
  }),
  response: exactObject({
    meta: exactObject({
      query: DomainSchema,
      requested: RequestedSchema,
      ...PageMetaSchemas,
    }),
    result: Type.Array(
      exactObject({ first_seen: UtcInstantSchema, last_seen: UtcInstantSchema, ...CertificateSchemas }),
    ),
  }),
  file: null,
  errors: [
    'plan_required',
    'domain_format',
    'cursor_invalid',
    'cursor_expired',
    'cursor_mismatch',
    'no_data',
    'session_missing',
    'origin_refused',
  ],
  authorize: authorizeHistory,
  handle: (call) =>
    firstAnswer(
      call,
      requestedNames(call),
      (each) => readCertificatesOf(call, each),
      (name) => `No certificate of ${name} is on record.`,
    ),
}

/** Null if no certificate is on record. */
async function readCertificatesOf(
  call: EndpointCall,
  { name, requested }: RequestedName,
): Promise<EndpointResult | null> {
  const { parameters, caller, facts } = call
  const maxLimit = maxStatesOf(caller)
  const limit = readLimitParameter(parameters, DEFAULT_STATES, maxLimit)
  const scope: CursorScope = { endpoint: 'certificatehistory', query: requested ?? name, type: '' }
  const next = readNextParameter(call)
  const before = next === null ? null : Number(readCursorPosition(call, next, scope).position)
  const { states, total, more } = await facts.certificateHistory(name, before, limit)
  if (total === 0) return null
  const cursor = nextCursor(call, scope, more ? String(states.at(-1)!.first_seen) : null)
  const rows = states.flatMap(({ first_seen, last_seen, certificate }) =>
    certificate === null
      ? []
      : [
          `{"first_seen":${instantJson(first_seen)},"last_seen":${instantJson(last_seen)},${certificateJson(certificate)}}`,
        ],
  )
  const meta =
    `"query":"${name}","requested":${JSON.stringify(requested)},"limit":${limit},"max_limit":${maxLimit},` +
    `"rcode":200,"msg":"ok","next":${cursor}`
  return { body: [`{"meta":{${meta}},"result":[${rows.join()}]}`], lastObserved: await facts.clocks(name) }
}
