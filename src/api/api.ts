/** Creates the API server: the seven endpoints, the pages outside /v1.0/ and the other paths. */

import type { FastifyInstance } from 'fastify'
import { formatInstant } from '../values/time.ts'
import { addOperatorRoutes } from './admin/routes.ts'
import { addDataRoutes, addSignInRoutes } from './app/routes.ts'
import { readSession } from './app/sessions.ts'
import { authenticateBearer } from './auth/bearer.ts'
import type { ApiContext, HealthState } from './context/context.ts'
import { type ApiOptions, createApiContext } from './create-context.ts'
import { addDnsdbRoutes, answerUndecodableDnsdbPath } from './dnsdb/routes.ts'
import { ENDPOINTS } from './endpoints/endpoints.ts'
import { fileIndexResponse, handleFileByName } from './files/file-routes.ts'
import type { ConnectionManager } from './http/connection-manager.ts'
import type { ApiRequest } from './http/exchange.ts'
import type { ApiMetrics } from './http/metrics.ts'
import { type ApiResponse, respond, toApiError } from './http/response.ts'
import { addRoute, type RouteHandler } from './http/routes.ts'
import { createHttpServer } from './http/server.ts'
import { withTimeout } from './http/timers.ts'
import { openApiDocument } from './openapi/document.ts'
import { type CrawlerPageSettings, crawlerPage } from './page/crawler-page.ts'
import type { PageContext } from './page/page.ts'
import { addQueryRoutes, directRoutes } from './query-routes.ts'
import { quotaStatus, rateLimitHeaders } from './quota/rate-limit.ts'
import { addDigestRoutes } from './watch/digest-routes.ts'
import { addFeedRoutes } from './watch/feed-routes.ts'
import { addWatchRoutes } from './watch/routes.ts'
import { addWebhookRoutes } from './watch/webhook-routes.ts'

/** Returns the response of a page. */
type PageHandler = (request: ApiRequest) => ApiResponse | Promise<ApiResponse>

const NO_CRAWLER: CrawlerPageSettings = { crawlContact: null, crawlMinInterval: 0, crawlMaxInterval: 0 }

/** The paths that are answered even in an overload. */
const HEALTH_PATHS = ['/healthz', '/readyz']
const PAGE_METHODS = ['GET', 'HEAD']
/** Milliseconds for which a document waits for the store. */
const SESSION_TIMEOUT_MS = 500

/**
 * `drain`: from now on, every response closes its connection, and /readyz reports that the server is not ready.
 * `settleQuota`: settles the charged units of this process with the ledger.
 */
export type Api = {
  app: FastifyInstance
  connections: ConnectionManager
  drain: () => void
  settleQuota: () => Promise<void>
}

/** Creates the server without listening. When it is closed, it settles all accounts and leaves the store open. */
export async function createApi(options: ApiOptions): Promise<Api> {
  const context = await createApiContext(options)
  const { responses, quotaLimiter, cursorKeyring } = context
  const { version } = context.installation
  const document = JSON.stringify(openApiDocument(ENDPOINTS, version))
  const pages = pageHandlers(context, document, crawlerPage({ ...NO_CRAWLER, ...options.settings }, version))
  const { page = null } = options
  const pageContext: PageContext = {
    responses,
    readSession: (request) => readSessionInTime(context, request),
  }
  const { app, connections } = createHttpServer(context, {
    ...options,
    directRoutes: directRoutes(context),
    answerFirst: (request, reply) => page?.answer(pageContext, request, reply) ?? false,
    answerUnknown: (request, reply) => page?.answerUnknown(pageContext, request, reply) ?? false,
    answerUndecodable: (request, reply) => answerUndecodableDnsdbPath(context, request, reply),
  })
  addQueryRoutes(app, context)
  addDnsdbRoutes(app, context)
  addWatchRoutes(app, context)
  addWebhookRoutes(app, context)
  addDigestRoutes(app, context)
  addFeedRoutes(app, context)
  for (const [path, page] of Object.entries(pages)) {
    const handler: RouteHandler = (request, reply) => respond(context, request, reply, () => page(request))
    addRoute(app, context, path, PAGE_METHODS, handler, { isHealth: HEALTH_PATHS.includes(path) })
  }
  addAppRoutes(app, context)
  addRoute(app, context, '/files/:filename', PAGE_METHODS, (request, reply) =>
    handleFileByName(context, request, reply),
  )
  app.addHook('onClose', async () => {
    connections.close()
    cursorKeyring.close()
    await quotaLimiter.close()
    context.mailer?.close()
  })
  addConnectionGauges(options.metrics, connections, responses)
  await app.ready()
  return {
    app,
    connections,
    drain: () => {
      responses.isDraining = true
    },
    settleQuota: () => quotaLimiter.settle(),
  }
}

/** The session for the document; null if the store fails or is slow. Then the page asks for it, and shows the error. */
async function readSessionInTime(context: ApiContext, request: ApiRequest): Promise<string | null> {
  const session = readSession(context, request).catch((error) => {
    toApiError(context, request.id, error) // writes the log
    return null
  })
  return withTimeout(session, SESSION_TIMEOUT_MS)
}

function addConnectionGauges(
  metrics: ApiMetrics,
  connections: ConnectionManager,
  responses: ApiContext['responses'],
): void {
  metrics.gauge('domaindex_connections', 'Open connections.', () => connections.openConnections)
  metrics.gauge('domaindex_requests_pending', 'Parsed requests without a response.', () => connections.pendingRequests)
  metrics.gauge(
    'domaindex_unparsed_bytes',
    'Request bytes that are read and not parsed.',
    () => connections.unparsedBytes,
  )
  metrics.gauge('domaindex_unsent_bytes', 'Response bytes that clients have not received.', () => responses.unsentBytes)
}

/** The paths of the web page. */
function addAppRoutes(app: FastifyInstance, context: ApiContext): void {
  addDataRoutes(app, context, ENDPOINTS)
  addSignInRoutes(app, context)
  addOperatorRoutes(app, context)
}

/** The pages by path. */
export function pageHandlers(context: ApiContext, document: string, crawler: ApiResponse): Record<string, PageHandler> {
  const openapi: ApiResponse = { status: 200, body: [Buffer.from(document)], headers: [], isShared: true }
  return {
    '/files': (request) => fileIndexResponse(context, request),
    '/crawler': () => crawler,
    '/account/quota': (request) => quotaResponse(context, request),
    '/healthz': () => healthResponse(200, 'ok'),
    '/readyz': () => readinessResponse(context),
    '/openapi.json': () => openapi,
  }
}

/** The daily budget of the account of the bearer token. It is free, even if no unit is left. */
async function quotaResponse(context: ApiContext, request: ApiRequest): Promise<ApiResponse> {
  const caller = await authenticateBearer(context, request)
  request.accessRecord.account = caller.account.id
  const { reset, ...status } = await quotaStatus(context, caller)
  const body = JSON.stringify({ ...status, reset: `${formatInstant(reset)}+00:00` })
  return { status: 200, body: [body], headers: rateLimitHeaders(caller, status.remaining ?? 0) }
}

/** Whether a proxy should send requests to this server. */
function readinessResponse({ responses, readiness }: ApiContext): ApiResponse {
  const state = responses.isDraining ? 'draining' : readiness()
  return healthResponse(state === 'ok' ? 200 : 503, state)
}

function healthResponse(status: number, healthState: HealthState): ApiResponse {
  return { status, body: [JSON.stringify({ status: healthState })], headers: [] }
}
