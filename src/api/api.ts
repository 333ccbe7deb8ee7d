/** Creates the API server: the seven endpoints and the other paths. */

import type { FastifyInstance } from 'fastify'
import { addOperatorRoutes } from './admin/routes.ts'
import { addDataRoutes, addSignInRoutes } from './app/routes.ts'
import type { ApiContext } from './context/context.ts'
import { type ApiOptions, createApiContext } from './create-context.ts'
import { ENDPOINTS } from './endpoints/endpoints.ts'
import { handleFileByName } from './files/file-routes.ts'
import type { ConnectionManager } from './http/connection-manager.ts'
import type { ApiMetrics } from './http/metrics.ts'
import { respond } from './http/response.ts'
import { addRoute, type RouteHandler } from './http/routes.ts'
import { createHttpServer } from './http/server.ts'
import { openApiDocument } from './openapi/document.ts'
import { pageHandlers } from './own-paths.ts'
import { type CrawlerPageSettings, crawlerPage } from './page/crawler-page.ts'
import { addQueryRoutes, directRoutes } from './query-routes.ts'

const NO_CRAWLER: CrawlerPageSettings = { crawlContact: null, crawlMinInterval: 0, crawlMaxInterval: 0 }

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
  const { app, connections } = createHttpServer(context, {
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
