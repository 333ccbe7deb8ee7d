/** The paths of the DNSDB API, version 2, for clients such as dnsdbq. */

import type { FastifyInstance, FastifyRequest } from 'fastify'
import { FLEXIBLE_KINDS, type FlexibleKind } from '../../search/pattern.ts'
import { authenticateApiKey } from '../auth/bearer.ts'
import type { ApiContext } from '../context/context.ts'
import { authorizeHistory } from '../endpoints/dnshistory.ts'
import { requireCompleteIndex } from '../endpoints/pdns.ts'
import { ApiError } from '../http/errors.ts'
import type { ApiReply, ApiRequest } from '../http/exchange.ts'
import { acquireSlot } from '../http/limits/overload.ts'
import type { Parameters } from '../http/parameters.ts'
import { normalizedPath } from '../http/request.ts'
import { type ApiResponse, bearerChallenge, sendResponse, toApiError } from '../http/response.ts'
import { addRoute, type RouteHandler } from '../http/routes.ts'
import { withTimeout } from '../http/timers.ts'
import { quotaStatus, rateLimitHeaders } from '../quota/rate-limit.ts'
import type { Reservation } from '../quota/reservation.ts'
import {
  maxOffsetOf,
  type PathParameters,
  type RowLimits,
  readFlexibleRequest,
  readRdataSearches,
  readRowLimits,
  readRrsetTarget,
} from './lookup-request.ts'
import { flexibleRows, type RowBatches, rdataRows, rrsetRows } from './rows.ts'
import { flexibleRowJson, lookupLines, summaryLines } from './saf.ts'
import { sendLines } from './stream.ts'

const READ_METHODS = ['GET', 'HEAD']
const WRITE_METHODS = ['POST', 'PUT', 'PATCH', 'DELETE']
/** The name of the endpoint in usage and metrics. */
const ENDPOINT = 'dnsdb'
/** Milliseconds for which a response waits until its unit is released. */
const RELEASE_TIMEOUT_MS = 1_000

/** The parameters in the paths of lookups and summaries. */
const PATHS: Readonly<Record<Kind, readonly string[]>> = {
  rrset: ['/:by/:value', '/:by/:value/:type', '/:by/:value/:type/:bailiwick'],
  rdata: ['/:by/:value', '/:by/:value/:type'],
}
const KINDS = ['rrset', 'rdata'] as const
const VERBS = ['lookup', 'summarize'] as const
const FLEXIBLE_PATHS = ['/rrnames/:value', '/rrnames/:value/:type']
type Kind = (typeof KINDS)[number]
type Verb = (typeof VERBS)[number]

/** Adds the paths. Unknown ones below `/dnsdb/v2` and wrong methods get a text, as every error of this protocol. */
export function addDnsdbRoutes(app: FastifyInstance, context: ApiContext): void {
  for (const verb of VERBS)
    for (const kind of KINDS)
      for (const path of PATHS[kind])
        add(app, context, `/${verb}/${kind}${path}`, linesHandler(context, lookupRoute(verb, kind)))
  for (const kind of FLEXIBLE_KINDS)
    for (const path of FLEXIBLE_PATHS) add(app, context, `/${kind}${path}`, linesHandler(context, flexibleRoute(kind)))
  add(app, context, '/rate_limit', (request) => rateLimitResponse(context, request))
  add(app, context, '/ping', async () => jsonLine({ ping: 'ok' }))
  const refuse = handlerOf(context, async () => {
    throw new ApiError('endpoint_unknown')
  })
  for (const url of ['/dnsdb/v2', '/dnsdb/v2/*']) {
    addRoute(app, context, url, READ_METHODS, refuse)
    app.route({ method: WRITE_METHODS, url, handler: refuse })
  }
}

/** Answers a request whose path under `/dnsdb/v2/` cannot be decoded. Returns false, and sends nothing, for other paths. */
export function answerUndecodableDnsdbPath(context: ApiContext, request: ApiRequest, reply: ApiReply): boolean {
  if (!normalizedPath(request.url).startsWith('/dnsdb/v2/')) return false
  const response = textResponse(request, new ApiError('endpoint_unknown'))
  void sendResponse(context.responses, request, reply, response)
  return true
}

/** Returns the response, or null if it was sent already. */
type DnsdbHandler = (request: ApiRequest, reply: ApiReply) => Promise<ApiResponse | null>

/** A path that answers lines. `isHistory`: it needs the plan of /dnshistory. `isSummary`: it has the limits of a summary. */
type LinesRoute = {
  isHistory: boolean
  isSummary: boolean
  linesOf: (
    context: ApiContext,
    path: PathParameters,
    limits: RowLimits,
    parameters: Parameters,
  ) => Promise<AsyncGenerator<string>>
}

function add(app: FastifyInstance, context: ApiContext, path: string, handle: DnsdbHandler): void {
  addRoute(app, context, `/dnsdb/v2${path}`, READ_METHODS, handlerOf(context, handle))
}

function handlerOf(context: ApiContext, handle: DnsdbHandler): RouteHandler {
  return async (request, reply) => {
    request.accessRecord.path ??= '/dnsdb/v2/*'
    request.accessRecord.endpoint = ENDPOINT
    let response: ApiResponse | null
    try {
      response = await handle(request, reply)
    } catch (thrown) {
      response = textResponse(request, toApiError(context, request.id, thrown))
    }
    if (response !== null) await sendResponse(context.responses, request, reply, response)
  }
}

/** An error as this protocol says it: a line of text. An overload is 503. */
function textResponse(request: ApiRequest, error: ApiError, quotaHeaders: readonly string[] = []): ApiResponse {
  const { retryAfter, message } = error
  const status = error.key === 'internal_error' && retryAfter !== null ? 503 : error.status
  const headers = [...quotaHeaders, ...bearerChallenge(request, error)]
  if (retryAfter !== null) headers.push('Retry-After', String(retryAfter))
  if (error.key === 'endpoint_unknown') headers.push('Allow', [...READ_METHODS, 'OPTIONS'].join(', '))
  return { status, body: [`Error: ${message}\n`], headers, type: 'text/plain; charset=utf-8' }
}

/** The checks in the order of the contract: token, quota, plan, parameters. The unit is charged with the first rows. */
function linesHandler(context: ApiContext, { isHistory, isSummary, linesOf }: LinesRoute): DnsdbHandler {
  return async (request, reply) => {
    const caller = await authenticateApiKey(context, request)
    await acquireSlot(context, caller, request)
    let reservation: Reservation | null = null
    try {
      const held = await context.quotaLimiter.reserve(caller)
      reservation = held
      if (isHistory) authorizeHistory(caller)
      const parameters = request.query as Parameters
      const limits = readRowLimits(parameters, caller, isSummary)
      const path = (request as FastifyRequest<{ Params: PathParameters }>).params
      const lines = await linesOf(context, path, limits, parameters)
      return await sendLines(context, request, reply, lines, () => {
        held.charge(ENDPOINT)
        return rateLimitHeaders(caller, held.remaining)
      })
    } catch (thrown) {
      const error = toApiError(context, request.id, thrown)
      if (reservation !== null) await release(reservation)
      const remaining = error.key === 'rate_limited' ? 0 : reservation?.remaining
      return textResponse(request, error, remaining === undefined ? [] : rateLimitHeaders(caller, remaining))
    }
  }
}

async function release(reservation: Reservation): Promise<void> {
  await withTimeout(reservation.release(), RELEASE_TIMEOUT_MS)
}

function lookupRoute(verb: Verb, kind: Kind): LinesRoute {
  const isSummary = verb === 'summarize'
  return {
    isHistory: kind === 'rrset',
    isSummary,
    linesOf: async (context, path, limits) => {
      const rows = kind === 'rrset' ? await rrsets(context, path, limits) : await owners(context, path, limits)
      return isSummary ? summaryLines(rows, limits) : lookupLines(rows, limits)
    },
  }
}

function flexibleRoute(kind: FlexibleKind): LinesRoute {
  return {
    isHistory: true,
    isSummary: false,
    linesOf: async (context, path, limits, parameters) => {
      const { search, exclude, types, isVerbose } = readFlexibleRequest(kind, path, parameters)
      await requireCompleteIndex(context.inverse)
      const rows = flexibleRows(context, search, exclude, types)
      return lookupLines(rows, limits, (row) => flexibleRowJson(row, isVerbose, limits.isHumanTime))
    },
  }
}

async function rrsets(context: ApiContext, path: PathParameters, { isAggregated }: RowLimits): Promise<RowBatches> {
  const target = readRrsetTarget(path)
  if (target.match !== 'exact') await requireCompleteIndex(context.inverse)
  return rrsetRows(context, target, isAggregated)
}

async function owners(context: ApiContext, path: PathParameters, limits: RowLimits): Promise<RowBatches> {
  const searches = readRdataSearches(path)
  await requireCompleteIndex(context.inverse)
  const { fence, isAggregated, limit, offset } = limits
  return rdataRows(context, searches, { fence, isAggregated, wanted: offset + limit + 1 })
}

/** The daily budget. It is free, and works with no calls left. Numbers are texts for an account without a limit. */
async function rateLimitResponse(context: ApiContext, request: ApiRequest): Promise<ApiResponse> {
  const caller = await authenticateApiKey(context, request)
  request.accessRecord.account = caller.account.id
  const { limit, remaining, reset } = await quotaStatus(context, caller)
  const bounds = { results_max: caller.limits.pageRows, offset_max: maxOffsetOf(caller) }
  const quota = limit === null ? { limit: 'unlimited', remaining: 'n/a', reset: 'n/a' } : { limit, remaining, reset }
  return jsonLine({ rate: { ...quota, ...bounds } }, rateLimitHeaders(caller, remaining ?? 0))
}

/** One line of JSON: dnsdbq reads only whole lines. */
function jsonLine(value: object, headers: readonly string[] = []): ApiResponse {
  return { status: 200, body: [`${JSON.stringify(value)}\n`], headers }
}
