/** GET /domain/NAME/web: the states of a website over time. */

import { formatInstant } from '../../../values/time.ts'
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
      (each) => readStates(call, each),
      (name) => `No website of ${name} is on record.`,
    ),
}

/** Null if no state is on record. */
async function readStates(call: EndpointCall, { name, requested }: RequestedName): Promise<EndpointResult | null> {
  const { parameters, caller, facts } = call
  const maxLimit = maxStatesOf(caller)
  const limit = readLimitParameter(parameters, DEFAULT_STATES, maxLimit)
  const scope: CursorScope = { endpoint: 'webhistory', query: requested ?? name, type: '' }
  const next = readNextParameter(call)
  const before = next === null ? null : Number(readCursorPosition(call, next, scope).position)
  const { states, total, more } = await facts.webHistory(name, before, limit)
  if (total === 0) return null
  const cursor = nextCursor(call, scope, more ? String(states.at(-1)!.first_seen) : null)
  const rows = states.map(
    ({ first_seen, last_seen, verdict }) =>
      `{"first_seen":"${formatInstant(first_seen)}Z","last_seen":"${formatInstant(last_seen)}Z",${verdictJson(verdict)}}`,
  )
  const meta =
    `"query":"${name}","requested":${JSON.stringify(requested)},"total":${total},"limit":${limit},` +
    `"max_limit":${maxLimit},"rcode":200,"msg":"ok","next":${cursor}`
  return { body: [`{"meta":{${meta}},"result":[${rows.join()}]}`], lastObserved: await facts.clocks(name) }
}
