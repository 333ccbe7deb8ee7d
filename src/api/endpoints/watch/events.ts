/** GET /events: the changes that the watches of an account matched, in pages, as they come, or as a stream. */

import { eventJson } from '../../../delivery/webhook-message.ts'
import type { EventReader, StoredEvent } from '../../../store/port/watch/events.ts'
import { DIFFERENCE_TYPES } from '../../../values/watch-kind.ts'
import type { Caller } from '../../auth/authenticator.ts'
import { SESSION_ERRORS } from '../../http/errors.ts'
import { type Parameters, readLimitParameter, readTextParameter } from '../../http/parameters.ts'
import type { Endpoint } from '../endpoint.ts'
import {
  DomainSchema,
  exactObject,
  limitParameter,
  nullable,
  PageMetaSchemas,
  planLimitsText,
  Type,
  UtcInstantSchema,
} from '../schema.ts'
import { rejectValue } from './watches.ts'

const DEFAULT_EVENTS = 100
/** Maximum of seconds for which a response waits for an event: half of what the server and clients wait for a response. */
const MAX_WAIT_SECONDS = 30

const Difference = Type.Object(
  { type: Type.String({ enum: [...DIFFERENCE_TYPES, 'limit'] }) },
  { description: 'What changed. The other keys follow from its type: see the documentation of the events.' },
)

const RowSchemas = {
  id: Type.Integer({ description: 'The number of the event. Later events have higher numbers.' }),
  time: UtcInstantSchema,
  watch: Type.Union([Type.Integer(), Type.Null()], { description: 'The watch; null: about the account.' }),
  name: nullable(DomainSchema, 'The name that changed; null for a certificate that a log published.'),
  observed_at: nullable(UtcInstantSchema, 'When the change was observed; null for a name that a list added.'),
  differences: Type.Array(Difference),
}
export const EVENT_FIELDS = Object.keys(RowSchemas)

/** What is declared of the endpoint. `eventsEndpoint` adds the handler. */
export const EVENTS: Endpoint = {
  name: 'events',
  summary: 'What your watches matched',
  description:
    'The events of the account after the event `after`, oldest first. They are kept for 30 days. `meta.next` is the ' +
    '`after` of the next page, also after the last one: a client that continues with it misses no event. With `wait`, ' +
    'the response comes with the first event, or empty after that time. With the header `Accept: text/event-stream` ' +
    'it is a stream of events that does not end; it begins after the event in `Last-Event-ID` or `after`, otherwise ' +
    'with the next event. With `before`, the events come newest first, and `meta.next` is the `before` of the next ' +
    'page, 0 after the oldest event. A page with events is charged as one call, an empty one is free. A stream is charged as its pages.',
  envelope: 'top',
  parameters: Type.Object({
    after: Type.Optional(
      Type.Integer({ minimum: 0, default: 0, description: 'The `id` of the last known event.', examples: [1042] }),
    ),
    before: Type.Optional(
      Type.String({
        description:
          'An `id`, or `now`: the events before it, newest first. Not with `after` or `wait`, and not of a stream.',
        examples: ['now', '1042'],
      }),
    ),
    limit: Type.Optional(limitParameter(DEFAULT_EVENTS, `${planLimitsText('pageRows')}.`)),
    wait: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: MAX_WAIT_SECONDS,
        default: 0,
        description: 'Seconds to wait for an event if there is none.',
      }),
    ),
  }),
  response: exactObject({
    meta: exactObject({
      ...PageMetaSchemas,
      next: Type.Integer({ description: 'The `after` or `before` of the next page; 0 after the oldest event.' }),
    }),
    result: Type.Array(exactObject(RowSchemas)),
  }),
  file: null,
  errors: ['value_invalid', ...SESSION_ERRORS],
  handle: null,
}

/** The endpoint with a function that reads the events of a page. An empty page is free. */
export function eventsEndpoint(
  readEvents: (account: number, request: EventRequest) => Promise<readonly StoredEvent[]>,
): Endpoint {
  return {
    ...EVENTS,
    handle: async ({ parameters, caller }) => {
      const request = readEventRequest(parameters, caller)
      const events = await readEvents(caller.account.id, request)
      return { body: [eventPageBody(request, events)], isFree: events.length === 0, lastObserved: null }
    },
  }
}

/**
 * A requested page of events. `after`: null if the request does not say it. `before`: null for a page of later events.
 * `wait`: seconds.
 */
export type EventRequest = {
  after: number | null
  before: number | 'now' | null
  limit: number
  maxLimit: number
  wait: number
}

/** Throws `value_invalid`. */
export function readEventRequest(parameters: Parameters, { limits }: Pick<Caller, 'limits'>): EventRequest {
  const wait = readCount(parameters, 'wait') ?? 0
  if (wait > MAX_WAIT_SECONDS) rejectValue('wait', `"wait" must be a whole number from 0 to ${MAX_WAIT_SECONDS}.`)
  const limit = readLimitParameter(parameters, DEFAULT_EVENTS, limits.pageRows)
  const after = readCount(parameters, 'after')
  const isNow = readTextParameter(parameters, 'before', 'value_invalid') === 'now'
  const before = isNow ? 'now' : readCount(parameters, 'before', 'a whole number or "now"')
  if (before !== null && (after !== null || wait > 0))
    rejectValue('before', '"before" must be sent without "after" and "wait".')
  return { after, before, limit, maxLimit: limits.pageRows, wait }
}

function readCount(parameters: Parameters, name: string, wanted = 'a whole number'): number | null {
  const text = readTextParameter(parameters, name, 'value_invalid')
  if (text === null) return null
  if (!/^\d{1,15}$/.test(text)) rejectValue(name, `"${name}" must be ${wanted}.`)
  return Number(text)
}

/**
 * Throws `value_invalid` if no event has ever had the number `after`: the store was restored from a backup, or is another
 * one, and the next events would be passed over. `newest`: the number of the newest event.
 */
export async function rejectUnknownNumber(
  events: Pick<EventReader, 'highestNumber'>,
  after: number | null,
  newest: number,
): Promise<void> {
  if (after === null || after <= newest || after <= (await events.highestNumber())) return
  const msg = `No event has the number ${after} in "after": the newest one is ${newest}. If the store was restored from a backup, continue after that one.`
  rejectValue('after', msg)
}

/** The body of a page. Older events end, later ones do not. */
function eventPageBody({ after, before, limit, maxLimit }: EventRequest, events: readonly StoredEvent[]): string {
  const last = events.at(-1)?.number
  const next = before === null ? (last ?? after ?? 0) : events.length < limit ? 0 : last
  const meta = `"limit":${limit},"max_limit":${maxLimit},"rcode":200,"msg":"ok","next":${next}`
  return `{"meta":{${meta}},"result":[${events.map(eventJson).join()}]}`
}
