/** GET /domain/NAME/certificates: the certificates that a domain presented, newest first. */

import { SESSION_ERRORS } from '../../http/errors.ts'
import { authorizeHistory, maxStatesOf } from '../dnshistory.ts'
import type { Endpoint, EndpointCall, EndpointResult } from '../endpoint.ts'
import { CURSOR_ERRORS, pageBody, readPage } from '../paging.ts'
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
  errors: ['plan_required', 'domain_format', ...CURSOR_ERRORS, 'no_data', ...SESSION_ERRORS],
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
  const { caller, facts } = call
  const limits = { fallback: DEFAULT_STATES, max: maxStatesOf(caller) }
  const page = readPage(call, 'certificatehistory', requested ?? name, limits)
  const before = page.position === null ? null : Number(page.position)
  const { states, total, more, lastObserved } = await facts.certificateHistory(name, before, page.limit)
  if (total === 0) return null
  const rows = states.flatMap(({ first_seen, last_seen, certificate }) =>
    certificate === null
      ? []
      : [
          `{"first_seen":${instantJson(first_seen)},"last_seen":${instantJson(last_seen)},${certificateJson(certificate)}}`,
        ],
  )
  const about = [`"query":"${name}"`, `"requested":${JSON.stringify(requested)}`]
  const body = pageBody(page, about, rows, more ? String(states.at(-1)!.first_seen) : null)
  return { body, lastObserved }
}
