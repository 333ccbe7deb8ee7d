/** The paths of watches and events. */

import type { FastifyInstance } from 'fastify'
import type { StoredEvent } from '../../store/port/watch/events.ts'
import { authenticateBearerOrSession } from '../auth/bearer.ts'
import type { ApiContext } from '../context/context.ts'
import { EVENTS, type EventRequest, eventsEndpoint } from '../endpoints/watch/events.ts'
import { readMuted, readNewWatch, watchBody } from '../endpoints/watch/watches.ts'
import { ApiError } from '../http/errors.ts'
import type { ApiRequest } from '../http/exchange.ts'
import type { Parameters } from '../http/parameters.ts'
import { readBody } from '../http/request.ts'
import { jsonResponse, NO_CONTENT } from '../http/response.ts'
import { addRoute } from '../http/routes.ts'
import { handleQuery } from '../queries/query-handler.ts'
import { type AccountHandler, addAccountRoute, idIn } from './account-routes.ts'
import { closeSignal, EventFeed } from './event-feed.ts'
import { isEventStream, sendEventStream } from './event-stream.ts'

const READ_METHODS = ['GET', 'HEAD']

export function addWatchRoutes(app: FastifyInstance, context: ApiContext): void {
  addAccountRoute(app, context, '/watches', { GET: listWatches, HEAD: listWatches, POST: createWatch })
  addAccountRoute(app, context, '/watches/:id', { PATCH: muteWatch, DELETE: removeWatch })
  addEventRoute(app, context)
}

const listWatches: AccountHandler = async ({ ledger }, { account, limits }) => {
  const watches = await ledger.watches(account.id)
  return jsonResponse(200, { watches: watches.map(watchBody), max: limits.watches })
}

const createWatch: AccountHandler = async ({ ledger }, { account, limits, now }, request) => {
  const created = await ledger.createWatch(limits.watches, account.id, readNewWatch(readBody(request)), now)
  if (created === 'too_many_watches')
    throw new ApiError('conflict', {
      msg: `The plan allows ${limits.watches} watches: remove one, or ask the operator to change your plan.`,
    })
  if (created === 'known_watch')
    throw new ApiError('conflict', { msg: 'The account has a watch of this kind and value already.' })
  return jsonResponse(201, watchBody(created))
}

const muteWatch: AccountHandler = async ({ ledger }, { account, now }, request) => {
  const muted = await ledger.muteWatch(account.id, idIn(request), readMuted(readBody(request)), now)
  if (muted === null) throw new ApiError('not_found', { msg: 'The account has no watch with this ID.' })
  return jsonResponse(200, watchBody(muted))
}

const removeWatch: AccountHandler = async ({ ledger }, { account }, request) => {
  if (!(await ledger.removeWatch(account.id, idIn(request))))
    throw new ApiError('not_found', { msg: 'The account has no watch with this ID.' })
  return NO_CONTENT
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
  { after, limit, wait }: EventRequest,
  closed: AbortSignal,
): Promise<StoredEvent[]> {
  const end = monotonicMs() + 1_000 * wait
  if (wait > 0) void feed.polls.acquire(account)
  try {
    for (;;) {
      const seen = await feed.last()
      const page = await events.events(account, after ?? 0, limit)
      const rest = end - monotonicMs()
      if (page.length > 0 || rest <= 0 || feed.isEnding || closed.aborted) return page
      await feed.wait(seen, rest, closed)
    }
  } finally {
    if (wait > 0) feed.polls.release(account)
  }
}
