/** The paths of watches and events. */

import type { FastifyInstance } from 'fastify'
import type { StoredEvent } from '../../store/port/watch/events.ts'
import { authenticateBearerOrSession } from '../auth/bearer.ts'
import type { ApiContext } from '../context/context.ts'
import { EVENTS, type EventRequest, eventsEndpoint, rejectUnknownNumber } from '../endpoints/watch/events.ts'
import { WATCH_OPERATIONS, type WatchOperationName } from '../endpoints/watch/operations.ts'
import { preview } from '../endpoints/watch/preview.ts'
import type { ApiRequest } from '../http/exchange.ts'
import type { Parameters } from '../http/parameters.ts'
import { readBody, readOptionalBody } from '../http/request.ts'
import { jsonResponse, NO_CONTENT } from '../http/response.ts'
import { addRoute } from '../http/routes.ts'
import { handleQuery } from '../queries/query-handler.ts'
import { type AccountHandler, addAccountRoute } from './account-routes.ts'
import { closeSignal, EventFeed } from './event-feed.ts'
import { isEventStream, sendEventStream } from './event-stream.ts'

const READ_METHODS = ['GET', 'HEAD']
const BODY_METHODS = ['POST', 'PATCH']

export function addWatchRoutes(app: FastifyInstance, context: ApiContext): void {
  const list = watchHandler('watches')
  addAccountRoute(app, context, '/watches', { GET: list, HEAD: list, POST: watchHandler('createWatch', 201) })
  const one = watchHandler('watch')
  addAccountRoute(app, context, '/watches/:id', {
    GET: one,
    HEAD: one,
    PATCH: watchHandler('muteWatch'),
    DELETE: watchHandler('removeWatch'),
  })
  addPreviewRoute(app, context)
  addEventRoute(app, context)
}

/** `status`: that of a success with a body. */
function watchHandler(operation: WatchOperationName, status = 200): AccountHandler {
  return async ({ ledger }, caller, request) => {
    const values = BODY_METHODS.includes(request.method) ? readBody(request) : {}
    const { id } = (request as ApiRequest & { params: { id?: string } }).params
    const body = await WATCH_OPERATIONS[operation](ledger, caller, { ...values, id })
    return body === null ? NO_CONTENT : jsonResponse(status, body)
  }
}

function addPreviewRoute(app: FastifyInstance, context: ApiContext): void {
  addRoute(app, context, '/watches/preview', ['POST'], (request, reply) => {
    request.accessRecord.endpoint = preview.name
    const authenticate = () => authenticateBearerOrSession(context, request)
    return handleQuery(context, preview, { read: readOptionalBody, authenticate }, request, reply)
  })
}

function addEventRoute(app: FastifyInstance, context: ApiContext): void {
  const { events, responses, monotonicMs, log } = context
  const feed = new EventFeed({
    events,
    monotonicMs,
    isEnding: () => responses.isDraining,
    onFault: (err) => log.error({ err }, 'events cannot be read'),
  })
  const authenticate = (request: ApiRequest) => authenticateBearerOrSession(context, request)
  addRoute(app, context, '/events', READ_METHODS, (request, reply) => {
    request.accessRecord.endpoint = EVENTS.name
    if (isEventStream(request)) return sendEventStream(context, feed, request, reply)
    const closed = closeSignal(request)
    const endpoint = eventsEndpoint((account, wanted) => waitForEvents(context, feed, account, wanted, closed))
    const read = ({ query }: ApiRequest): Parameters => query as Parameters
    return handleQuery(context, endpoint, { read, authenticate }, request, reply)
  })
  app.addHook('onClose', async () => feed.close())
}

/**
 * The events of a page: at once, or when there is one, or none when the time is up or the client has gone. Throws if too
 * many requests of the account wait: they hold its slots for calls.
 */
async function waitForEvents(
  { events, monotonicMs }: Pick<ApiContext, 'events' | 'monotonicMs'>,
  feed: EventFeed,
  account: number,
  { after, before, limit, wait }: EventRequest,
  closed: AbortSignal,
): Promise<StoredEvent[]> {
  if (before !== null) return events.eventsBefore(account, before === 'now' ? null : before, limit)
  const end = monotonicMs() + 1_000 * wait
  if (wait > 0) void feed.polls.acquire(account)
  try {
    for (;;) {
      const seen = await feed.last()
      const page = await events.events(account, after ?? 0, limit)
      if (page.length === 0) await rejectUnknownNumber(events, after, seen)
      const rest = end - monotonicMs()
      if (page.length > 0 || rest <= 0 || feed.isEnding || closed.aborted) return page
      await feed.wait(seen, rest, closed)
    }
  } finally {
    if (wait > 0) feed.polls.release(account)
  }
}
