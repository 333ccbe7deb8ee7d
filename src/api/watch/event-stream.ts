/** A stream of events (server-sent events of the HTML standard), as they come. */

import type { ServerResponse } from 'node:http'
import { eventJson } from '../../delivery/webhook-message.ts'
import type { StoredEvent } from '../../store/port/watch/events.ts'
import type { Caller } from '../auth/authenticator.ts'
import { authenticateBearerOrSession } from '../auth/bearer.ts'
import type { ApiContext } from '../context/context.ts'
import { EVENTS, readEventRequest, rejectUnknownNumber } from '../endpoints/watch/events.ts'
import { rejectValue } from '../endpoints/watch/watches.ts'
import type { ApiReply, ApiRequest } from '../http/exchange.ts'
import { COMMON_HEADERS } from '../http/headers.ts'
import { rejectIfOverloaded } from '../http/limits/overload.ts'
import type { Parameters } from '../http/parameters.ts'
import { bearerChallenge, crossOriginHeaders, errorResponse, sendResponse, toApiError } from '../http/response.ts'
import { drained } from '../http/write-parts.ts'
import { closeSignal, type EventFeed } from './event-feed.ts'

const STREAM_TYPE = 'text/event-stream'
/** Events that are read at once. Each such page is charged as one call. */
const PAGE_EVENTS = 100
/** Milliseconds after which a stream without events sends a comment, so that nobody on the way closes it. */
const COMMENT_MS = 15_000
const COMMENT = ':\n\n'

/** Whether a request asks for a stream. */
export function isEventStream({ method, headers }: ApiRequest): boolean {
  return method === 'GET' && (headers.accept ?? '').includes(STREAM_TYPE)
}

/**
 * Sends the events of an account until the client disconnects, the server ends, the token is revoked, or no unit is left.
 * Then a client connects again with the ID of its last event, and gets the error.
 */
export async function sendEventStream(
  context: ApiContext,
  feed: EventFeed,
  request: ApiRequest,
  reply: ApiReply,
): Promise<void> {
  const { responses, quotaLimiter } = context
  try {
    const caller = await authenticateBearerOrSession(context, request)
    request.accessRecord.account = caller.account.id
    rejectIfOverloaded(responses)
    const start = await startOf(context, request, caller)
    await quotaLimiter.checkOnly(caller)
    void feed.streams.acquire(caller.account.id)
    request.accessRecord.onClose.push(() => feed.streams.release(caller.account.id))
    const closed = closeSignal(request)
    const head = ['Request-Id', request.id, ...COMMON_HEADERS, ...crossOriginHeaders(responses, request)]
    const { raw } = reply
    raw.shouldKeepAlive = false
    raw.writeHead(200, [...head, 'Content-Type', STREAM_TYPE])
    raw.write(COMMENT)
    await sendEvents(context, feed, request, { raw, closed }, start)
  } catch (thrown) {
    const error = toApiError(context, request.id, thrown)
    if (reply.raw.headersSent) reply.raw.end()
    else await sendResponse(responses, request, reply, errorResponse(error, 'top', bearerChallenge(request, error)))
  }
}

/** The event after which the stream begins: the one in Last-Event-ID or `after`, otherwise the newest one. */
async function startOf({ events }: ApiContext, request: ApiRequest, caller: Caller): Promise<number> {
  const parameters = request.query as Parameters
  const { 'last-event-id': known } = request.headers
  const { after, before } = readEventRequest(known === undefined ? parameters : { ...parameters, after: known }, caller)
  if (before !== null) rejectValue('before', 'A stream has only later events: leave out "before", or ask for a page.')
  const newest = await events.lastEvent()
  await rejectUnknownNumber(events, after, newest)
  return after ?? newest
}

async function sendEvents(
  context: ApiContext,
  feed: EventFeed,
  request: ApiRequest,
  { raw, closed }: { raw: ServerResponse; closed: AbortSignal },
  start: number,
): Promise<void> {
  const { events, quotaLimiter, monotonicMs } = context
  let after = start
  let sentAt = monotonicMs()
  while (!raw.destroyed && !feed.isEnding) {
    const caller = await authenticateBearerOrSession(context, request) // the token may be revoked meanwhile
    const seen = await feed.last()
    const page = await events.events(caller.account.id, after, PAGE_EVENTS)
    const isSilent = monotonicMs() - sentAt >= COMMENT_MS
    if (page.length === 0 && !isSilent) {
      await feed.wait(seen, COMMENT_MS, closed)
      continue
    }
    if (page.length > 0) (await quotaLimiter.reserve(caller)).charge(EVENTS.name)
    raw.write(page.length > 0 ? page.map(eventText).join('') : COMMENT)
    after = page.at(-1)?.number ?? after
    sentAt = monotonicMs()
    if (raw.writableNeedDrain) await drained(raw)
  }
  raw.end()
}

function eventText(event: StoredEvent): string {
  return `id: ${event.number}\ndata: ${eventJson(event)}\n\n`
}
