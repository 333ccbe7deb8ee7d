/** Creates the API server: the seven endpoints and the other paths. */

import type { FastifyInstance } from 'fastify'
import { addOperatorRoutes } from './admin/routes.ts'
import { addDataRoutes } from './app/data-routes.ts'
import { addSignInRoutes } from './app/sign-in/routes.ts'
import { handleBatch } from './batch/batch.ts'
import { MAX_BATCH_BODY_BYTES } from './batch/lines.ts'
import type { ApiContext } from './context.ts'
import { type CrawlerPageSettings, crawlerPage } from './crawler-page.ts'
import { type ApiOptions, createApiContext } from './create-context.ts'
import type { Endpoint } from './endpoints/endpoint.ts'
import { ENDPOINTS } from './endpoints/endpoints.ts'
import type { ConnectionManager } from './http/connection-manager.ts'
import type { DirectRoutes } from './http/direct/direct-path.ts'
import type { ApiReply, ApiRequest } from './http/exchange.ts'
import { handleFileByName } from './http/files/files-by-name.ts'
import { handleQuery, type QuerySource } from './http/query-handler.ts'
import { readParameters } from './http/request.ts'
import { sendResponse } from './http/response.ts'
import { addRoute, type RouteHandler } from './http/routes.ts'
import { createHttpServer } from './http/server.ts'
import { handleMcp, MCP_METHOD_RESPONSE } from './mcp/mcp.ts'
import type { ApiMetrics } from './metrics.ts'
import { openApiDocument } from './openapi/document.ts'
import { pageHandlers } from './own-paths.ts'
import { pdns } from './pdns/pdns.ts'
import { PDNS_PATH, pdnsSource } from './pdns/source.ts'
import { PROFILE_ROUTES, profileSource } from './profiles/routes.ts'
import { respond } from './respond.ts'

const NO_CRAWLER: CrawlerPageSettings = { crawlContact: null, crawlMinInterval: 0, crawlMaxInterval: 0 }

const QUERY_METHODS = ['GET', 'HEAD', 'POST']
/** The paths that are answered even in an overload. */
const HEALTH_PATHS = ['/healthz', '/readyz']
const PAGE_METHODS = ['GET', 'HEAD']

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
  const { app, front } = createHttpServer(context, {
    ...options,
    directRoutes: directRoutes(context),
    answerFirst: (request, reply) => page?.answer(responses, request, reply) ?? false,
    answerUnknown: (request, reply) => page?.answerUnknown(responses, request, reply) ?? false,
  })
  addQueryRoutes(app, context)
  for (const [path, page] of Object.entries(pages)) {
    const handler: RouteHandler = (request, reply) => respond(context, request, reply, () => page(request))
    addRoute(app, context, path, PAGE_METHODS, handler, { isHealth: HEALTH_PATHS.includes(path) })
  }
  addAppRoutes(app, context)
  addRoute(app, context, '/files/:filename', PAGE_METHODS, (request, reply) =>
    handleFileByName(context, request, reply),
  )
  app.addHook('onClose', async () => {
    front.close()
    cursorKeyring.close()
    await quotaLimiter.close()
    context.mailer?.close()
  })
  addConnectionGauges(options.metrics, front, responses)
  await app.ready()
  return {
    app,
    connections: front,
    drain: () => {
      responses.isDraining = true
    },
    settleQuota: () => quotaLimiter.settle(),
  }
}

function addConnectionGauges(metrics: ApiMetrics, front: ConnectionManager, responses: ApiContext['responses']): void {
  metrics.gauge('domaindex_connections', 'Open connections.', () => front.openConnections)
  metrics.gauge('domaindex_requests_pending', 'Parsed requests without a response.', () => front.pendingRequests)
  metrics.gauge('domaindex_unparsed_bytes', 'Request bytes that are read and not parsed.', () => front.unparsedBytes)
  metrics.gauge('domaindex_unsent_bytes', 'Response bytes that clients have not received.', () => responses.unsentBytes)
}

/** The paths that answer queries. */
function addQueryRoutes(app: FastifyInstance, context: ApiContext): void {
  addEndpointRoutes(app, context)
  addProfileRoutes(app, context)
  addBatchRoute(app, context)
  addMcpRoute(app, context)
}

function addEndpointRoutes(app: FastifyInstance, context: ApiContext): void {
  for (const endpoint of ENDPOINTS) {
    const { envelope } = endpoint
    addRoute(app, context, endpointPath(endpoint), QUERY_METHODS, v1Handler(context, endpoint), { envelope })
  }
}

function addBatchRoute(app: FastifyInstance, context: ApiContext): void {
  const handler: RouteHandler = (request, reply) => {
    request.accessRecord.endpoint = 'batch'
    return handleBatch(context, request, reply)
  }
  addRoute(app, context, '/batch', ['POST'], handler, { maxBodyBytes: MAX_BATCH_BODY_BYTES })
}

function addMcpRoute(app: FastifyInstance, context: ApiContext): void {
  const handler: RouteHandler = (request, reply) => {
    request.accessRecord.endpoint = 'mcp'
    return handleMcp(context, request, reply)
  }
  addRoute(app, context, '/mcp', ['POST'], handler)
  const methods = ['GET', 'DELETE']
  const refuse: RouteHandler = (request, reply) => sendResponse(context.responses, request, reply, MCP_METHOD_RESPONSE)
  app.route({ method: methods, url: '/mcp', handler: refuse })
}

/** The paths of the web page. */
function addAppRoutes(app: FastifyInstance, context: ApiContext): void {
  addDataRoutes(app, context, ENDPOINTS)
  addSignInRoutes(app, context)
  addOperatorRoutes(app, context)
}

function addProfileRoutes(app: FastifyInstance, context: ApiContext): void {
  for (const { endpoint, path } of PROFILE_ROUTES) {
    addRoute(app, context, path, PAGE_METHODS, endpointHandler(context, endpoint, path, profileSource(context)))
  }
  addRoute(app, context, PDNS_PATH, PAGE_METHODS, endpointHandler(context, pdns, PDNS_PATH, pdnsSource(context)))
}

function directRoutes(context: ApiContext): DirectRoutes {
  return new Map(
    ENDPOINTS.map((endpoint) => {
      const { envelope } = endpoint
      return [endpointPath(endpoint), { config: { envelope }, handle: v1Handler(context, endpoint) }]
    }),
  )
}

function endpointPath({ name }: Endpoint): string {
  return `/v1.0/${name}`
}

function v1Handler(context: ApiContext, endpoint: Endpoint) {
  return endpointHandler(context, endpoint, endpointPath(endpoint), {
    read: readParameters,
    authenticate: ({ ip }, { token }) => context.authenticator.authenticate(token, ip),
  })
}

/** Returns the function that handles the requests of an endpoint on a path. */
function endpointHandler(context: ApiContext, endpoint: Endpoint, path: string, source: QuerySource) {
  return (request: ApiRequest, reply: ApiReply): Promise<void> => {
    request.accessRecord.path = path
    request.accessRecord.endpoint = endpoint.name
    return handleQuery(context, endpoint, source, request, reply)
  }
}
