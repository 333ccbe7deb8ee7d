/** The paths of watches and events. */

import type { FastifyInstance } from 'fastify'
import type { StoredEvent } from '../../store/port/watch/events.ts'
import { authenticateBearerOrSession } from '../auth/bearer.ts'
import type { ApiContext } from '../context/context.ts'
import { EVENTS, type EventRequest, eventsEndpoint, rejectUnknownNumber } from '../endpoints/watch/events.ts'
import { WATCH_OPERATIONS, type WatchOperationName } from '../endpoints/watch/operations.ts'
import { preview } from '../endpoints/watch/preview.ts'
import { rejectValue } from '../endpoints/watch/watches.ts'
import type { ApiRequest } from '../http/exchange.ts'
import { acquireSlot } from '../http/limits/overload.ts'
import type { Parameters } from '../http/parameters.ts'
import { readJsonObject } from '../http/request.ts'
import { type ApiResponse, respond } from '../http/response.ts'
import { addRoute } from '../http/routes.ts'
import { handleQuery } from '../queries/query-handler.ts'
import { closeSignal, EventFeed } from './event-feed.ts'
import { isEventStream, sendEventStream } from './event-stream.ts'

const READ_METHODS = ['GET', 'HEAD']
const BODY_METHODS = ['POST', 'PATCH']
/** The operation of each method of a path, and the status of its success. */
type WatchMethods = Readonly<Record<string, readonly [operation: WatchOperationName, status: number]>>

export function addWatchRoutes(app: FastifyInstance, context: ApiContext): void {
  const list = ['watches', 200] as const
  const one = ['watch', 200] as const
  addWatchRoute(app, context, '/watches', { GET: list, HEAD: list, POST: ['createWatch', 201] })
  addWatchRoute(app, context, '/watches/:id', {
    GET: one,
    HEAD: one,
    PATCH: ['muteWatch', 200],
    DELETE: ['removeWatch', 204],
  })
  addPreviewRoute(app, context)
  addEventRoute(app, context)
}

function addWatchRoute(app: FastifyInstance, context: ApiContext, path: string, methods: WatchMethods): void {
  addRoute(app, context, path, Object.keys(methods), (request, reply) =>
    respond(context, request, reply, async (): Promise<ApiResponse> => {
      const caller = await authenticateBearerOrSession(context, request)
      await acquireSlot(context, caller, request)
      const [operation, status] = methods[request.method]!
      const { id } = request.params as { id?: string }
      const values = BODY_METHODS.includes(request.method) ? readBody(request) : {}
      const body = await WATCH_OPERATIONS[operation](context.ledger, caller, { ...values, id })
      return { status, body: body === null ? [] : [JSON.stringify(body)], headers: [] }
    }),
  )
}

function addPreviewRoute(app: FastifyInstance, context: ApiContext): void {
  addRoute(app, context, '/watches/preview', ['POST'], (request, reply) => {
    request.accessRecord.endpoint = preview.name
    const authenticate = () => authenticateBearerOrSession(context, request)
    return handleQuery(context, preview, { read: (each) => readJsonObject(each) ?? {}, authenticate }, request, reply)
  })
}

function readBody(request: ApiRequest): Parameters {
  return readJsonObject(request) ?? rejectValue('body', 'The body must be a JSON object.')
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
