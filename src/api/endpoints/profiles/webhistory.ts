/** GET /domain/NAME/web: the states of a website over time. */

import { formatInstant } from '../../../values/time.ts'
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
import { firstAnswer, type RequestedName, RequestedSchema, requestedNames } from './requested-name.ts'
import { VerdictSchemas, verdictJson } from './web-state.ts'

const DEFAULT_STATES = 10

export const webhistory: Endpoint = {
  name: 'webhistory',
  summary: 'Changes of the website of a domain',
  description:
    'What `/lookup` says of the website, over time, newest first: whether there is one, its redirects and the verdict on ' +
    'its certificate. A new state starts when one of them changes. Repeat the call with `next` set to the last `meta.next` until ' +
    'that is null. A `name` is read as in `/domain/NAME`, and the plan is that of `/dnshistory`.',
  envelope: 'top',
  parameters: Type.Object({
    name: Type.String({ description: 'A domain.', examples: ['example.com'] }),
    limit: Type.Optional(limitParameter(DEFAULT_STATES, `States per page: ${planLimitsText('historyStates')}.`)),
    next: PageParameterSchemas.next,
  }),
  response: exactObject({
    meta: exactObject({
      query: DomainSchema,
      requested: RequestedSchema,
      total: Type.Integer({ minimum: 1, maximum: 1001, description: 'The number of states; 1,001: more than 1,000.' }),
      ...PageMetaSchemas,
    }),
    result: Type.Array(exactObject({ first_seen: UtcInstantSchema, last_seen: UtcInstantSchema, ...VerdictSchemas })),
  }),
  file: null,
  errors: ['plan_required', 'domain_format', ...CURSOR_ERRORS, 'no_data', ...SESSION_ERRORS],
  authorize: authorizeHistory,
  handle: (call) =>
    firstAnswer(
      call,
      requestedNames(call),
      (each) => readStates(call, each),
      (name) => `No website of ${name} is on record.`,
    ),
}

/** Null if no state is on record. */
async function readStates(call: EndpointCall, { name, requested }: RequestedName): Promise<EndpointResult | null> {
  const { caller, facts } = call
  const page = readPage(call, 'webhistory', requested ?? name, { fallback: DEFAULT_STATES, max: maxStatesOf(caller) })
  const before = page.position === null ? null : Number(page.position)
  const { states, total, more, lastObserved } = await facts.webHistory(name, before, page.limit)
  if (total === 0) return null
  const rows = states.map(
    ({ first_seen, last_seen, verdict }) =>
      `{"first_seen":"${formatInstant(first_seen)}Z","last_seen":"${formatInstant(last_seen)}Z",${verdictJson(verdict)}}`,
  )
  const about = [`"query":"${name}"`, `"requested":${JSON.stringify(requested)}`, `"total":${total}`]
  const body = pageBody(page, about, rows, more ? String(states.at(-1)!.first_seen) : null)
  return { body, lastObserved }
}
