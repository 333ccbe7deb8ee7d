/** The paths of feeds: the newest events of an account for a reader of Atom, by a link of its own. */

import { randomBytes } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import { utcText } from '../../values/time.ts'
import { hashFeedKey } from '../auth/authenticator.ts'
import type { ApiContext } from '../context/context.ts'
import { EVENTS } from '../endpoints/watch/events.ts'
import { ATOM_TYPE, atomFeed, feedTag } from '../endpoints/watch/feed.ts'
import type { ApiRequest } from '../http/exchange.ts'
import { listHasTag } from '../http/files/file-response.ts'
import { acquireSlot } from '../http/limits/overload.ts'
import { type Parameters, readTextParameter } from '../http/parameters.ts'
import { type ApiResponse, jsonResponse, NO_CONTENT, respond } from '../http/response.ts'
import { addRoute } from '../http/routes.ts'
import { rateLimitHeaders } from '../quota/rate-limit.ts'
import { type AccountHandler, addAccountRoute } from './account-routes.ts'

const KEY_BYTES = 32
const FEED_EVENTS = 100

export function addFeedRoutes(app: FastifyInstance, context: ApiContext): void {
  addAccountRoute(app, context, '/feed', { GET: readFeed, HEAD: readFeed, POST: createFeed, DELETE: removeFeed })
  addRoute(app, context, '/events.atom', ['GET', 'HEAD'], (request, reply) =>
    respond(context, request, reply, () => feedResponse(context, request)),
  )
}

const readFeed: AccountHandler = async ({ ledger }, { account }) => {
  const created = await ledger.feedCreated(account.id)
  return jsonResponse(200, { created: utcText(created) })
}

const createFeed: AccountHandler = async ({ ledger }, { account, now }) => {
  const key = randomBytes(KEY_BYTES).toString('base64url')
  await ledger.replaceFeed(account.id, hashFeedKey(key), now)
  return jsonResponse(201, { created: utcText(now), path: `/events.atom?key=${key}` })
}

const removeFeed: AccountHandler = async ({ ledger }, { account }) => {
  await ledger.removeFeed(account.id)
  return NO_CONTENT
}

/** A feed with events is charged as a page of them. It is free if the client has it already. */
async function feedResponse(context: ApiContext, request: ApiRequest): Promise<ApiResponse> {
  request.accessRecord.endpoint = EVENTS.name
  const key = readTextParameter(request.query as Parameters, 'key', 'token_missing')
  const caller = await context.authenticator.authenticateFeed(key, request.ip)
  await acquireSlot(context, caller, request)
  const events = await context.events.eventsBefore(caller.account.id, null, FEED_EVENTS)
  const tag = feedTag(events)
  const headers = ['ETag', `W/${tag}`]
  const known = request.headers['if-none-match']
  if (known !== undefined && listHasTag(known, tag, 'weak')) return { status: 304, body: [], headers, isCached: true }
  if (events.length > 0) {
    const reservation = await context.quotaLimiter.reserve(caller)
    reservation.charge(EVENTS.name)
    headers.push(...rateLimitHeaders(caller, reservation.remaining))
  }
  const site = context.publicUrl ?? `http://${request.headers.host ?? 'localhost'}`
  return { status: 200, body: [atomFeed(events, site, caller.now)], headers, type: ATOM_TYPE, isCached: true }
}
