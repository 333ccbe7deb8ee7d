/** The paths of watches and events. */

import type { FastifyInstance } from 'fastify'
import type { StoredEvent } from '../../store/port/watch/events.ts'
import type { Caller } from '../auth/authenticator.ts'
import { authenticateBearerOrSession } from '../auth/bearer.ts'
import type { ApiContext } from '../context/context.ts'
import { EVENTS, type EventRequest, eventsEndpoint, rejectUnknownNumber } from '../endpoints/watch/events.ts'
import { preview } from '../endpoints/watch/preview.ts'
import { readMuted, readNewWatch, rejectValue, watchBody } from '../endpoints/watch/watches.ts'
import { ApiError } from '../http/errors.ts'
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
/** The largest number of a watch that an engine stores. */
const MAX_ID = 2 ** 31 - 1

/** Handles a request about watches. It is free. */
type WatchHandler = (context: ApiContext, caller: Caller, request: ApiRequest) => Promise<ApiResponse>

export function addWatchRoutes(app: FastifyInstance, context: ApiContext): void {
  addWatchRoute(app, context, '/watches', { GET: listWatches, HEAD: listWatches, POST: createWatch })
  addWatchRoute(app, context, '/watches/:id', {
    GET: showWatch,
    HEAD: showWatch,
    PATCH: muteWatch,
    DELETE: removeWatch,
  })
  addPreviewRoute(app, context)
  addEventRoute(app, context)
}

function addPreviewRoute(app: FastifyInstance, context: ApiContext): void {
  addRoute(app, context, '/watches/preview', ['POST'], (request, reply) => {
    request.accessRecord.endpoint = preview.name
    const authenticate = () => authenticateBearerOrSession(context, request)
    return handleQuery(context, preview, { read: (each) => readJsonObject(each) ?? {}, authenticate }, request, reply)
  })
}

function addWatchRoute(
  app: FastifyInstance,
  context: ApiContext,
  path: string,
  handlers: Readonly<Record<string, WatchHandler>>,
): void {
  addRoute(app, context, path, Object.keys(handlers), (request, reply) =>
    respond(context, request, reply, async () => {
      const caller = await authenticateBearerOrSession(context, request)
      await acquireSlot(context, caller, request)
      return handlers[request.method]!(context, caller, request)
    }),
  )
}

const listWatches: WatchHandler = async ({ ledger }, { account, limits }) => {
  const watches = await ledger.watches(account.id)
  return jsonResponse(200, { watches: watches.map(watchBody), max: limits.watches })
}

const createWatch: WatchHandler = async ({ ledger }, { account, limits, now }, request) => {
  const created = await ledger.createWatch(limits.watches, account.id, readNewWatch(readBody(request)), now)
  if (created === 'too_many_watches')
    throw new ApiError('conflict', {
      msg: `The plan allows ${limits.watches} watches: remove one, or ask the operator to change your plan.`,
    })
  if (created === 'known_watch')
    throw new ApiError('conflict', { msg: 'The account has a watch of this kind and value already.' })
  return jsonResponse(201, watchBody(created))
}

const showWatch: WatchHandler = async ({ ledger }, { account }, request) => {
  const watch = (await ledger.watch(account.id, idIn(request))) ?? rejectId()
  return jsonResponse(200, watchBody(watch))
}

const muteWatch: WatchHandler = async ({ ledger }, { account, now }, request) => {
  const muted = await ledger.muteWatch(account.id, idIn(request), readMuted(readBody(request)), now)
  return jsonResponse(200, watchBody(muted ?? rejectId()))
}

const removeWatch: WatchHandler = async ({ ledger }, { account }, request) => {
  if (!(await ledger.removeWatch(account.id, idIn(request)))) rejectId()
  return { status: 204, body: [], headers: [] }
}

function jsonResponse(status: number, body: object): ApiResponse {
  return { status, body: [JSON.stringify(body)], headers: [] }
}

function readBody(request: ApiRequest): Parameters {
  return readJsonObject(request) ?? rejectValue('body', 'The body must be a JSON object.')
}

function rejectId(): never {
  throw new ApiError('not_found', { msg: 'The account has no watch with this ID.' })
}

function idIn(request: ApiRequest): number {
  const { id = '' } = (request as ApiRequest & { params: { id?: string } }).params
  const number = /^[1-9]\d{0,9}$/.test(id) ? Number(id) : 0
  return number < 1 || number > MAX_ID ? rejectId() : number
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
