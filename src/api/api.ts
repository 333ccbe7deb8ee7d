/** The API: the seven endpoints and the paths beside them, as one HTTP server. */

import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { FastifyContextConfig, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Logger } from 'pino'
import type { PlanLimitTable } from '../accounts/plan.ts'
import type { SimilarityService } from '../similar/query/similarity-service.ts'
import type { CrawlRequests } from '../store/port/crawl-requests.ts'
import type { Store } from '../store/port/store.ts'
import type { Instant } from '../values/time.ts'
import { Authenticator } from './auth/authenticator.ts'
import type { ApiContext } from './context.ts'
import { createCrawlRequester } from './crawl-requests.ts'
import { type CrawlerPageSettings, crawlerPage } from './crawler-page.ts'
import { openCursorKeyring } from './cursor/keyring.ts'
import { daily } from './endpoints/daily.ts'
import { dnshistory } from './endpoints/dnshistory.ts'
import type { Endpoint } from './endpoints/endpoint.ts'
import { lookup } from './endpoints/lookup.ts'
import { redirect } from './endpoints/redirect.ts'
import { reverseip } from './endpoints/reverseip.ts'
import { similar } from './endpoints/similar.ts'
import { snapshot } from './endpoints/snapshot.ts'
import type { ConnectionManager } from './http/connection-manager.ts'
import type { ReadableFileStore } from './http/files/file-response.ts'
import { handleFileByName } from './http/files/files-by-name.ts'
import { type Cors, preflightHeaders } from './http/headers.ts'
import { type ClientLimitSettings, ClientLimits, NO_CLIENT_LIMITS } from './http/limits/client-limits.ts'
import { AccountConcurrencyLimiter, CALL_CONCURRENCY, DOWNLOAD_CONCURRENCY } from './http/limits/concurrency-limiter.ts'
import { handleQuery } from './http/query-handler.ts'
import { sendResponse } from './http/response.ts'
import { createHttpServer } from './http/server.ts'
import type { ApiMetrics } from './metrics.ts'
import { ApiDocs } from './openapi/docs-pages.ts'
import { openApiDocument } from './openapi/document.ts'
import { handlePage, pageHandlers } from './own-paths.ts'
import { QuotaLimiter } from './quota/quota-limiter.ts'

const ENDPOINTS: readonly Endpoint[] = [lookup, redirect, reverseip, dnshistory, daily, snapshot, similar]

const NO_CRAWLER: CrawlerPageSettings = { crawlContact: null, crawlMinInterval: 0, crawlMaxInterval: 0 }

const QUERY_METHODS = ['GET', 'HEAD', 'POST']
/** Answered in an overload too. */
const HEALTH_PATHS = ['/healthz', '/readyz']
const PAGE_METHODS = ['GET', 'HEAD']

export type ApiOptions = {
  store: Pick<Store, 'facts' | 'ledger'>
  /** Who says which start pages read alike. */
  similarSearch: SimilarityService
  fileStore: ReadableFileStore
  settings: { cors: Cors; trustedProxies: readonly string[] } & Partial<CrawlerPageSettings & ClientLimitSettings>
  /** Of the plans; by default those of the specification. */
  limits?: PlanLimitTable | undefined
  /** Where names are wanted that are looked up in vain, and how many an account and day; nowhere by default. */
  lookupCrawlRequests?: { crawlRequests: CrawlRequests; maxPerDay: number } | null
  /** Whole Unix seconds. */
  now: () => Instant
  /** Milliseconds of a clock that is never set. */
  monotonicMs?: () => number
  /** Whether the store can be asked; always by default. */
  isReady?: () => boolean
  log: Logger
  metrics: ApiMetrics
}

/** `drain`: from now on every answer closes its connection, and /readyz says that no more requests are welcome. */
export type Api = { app: FastifyInstance; connections: ConnectionManager; drain: () => void }

/** Builds the server; it does not listen yet. Closing it settles all accounts and leaves the store open. */
export async function createApi(options: ApiOptions): Promise<Api> {
  const site = await createApiContext(options)
  const { responses, quotaLimiter, cursorKeyring: keyring } = site
  const version = packageVersion()
  const document = openApiDocument(ENDPOINTS, version)
  const pages = pageHandlers(
    site,
    JSON.stringify(document),
    crawlerPage({ ...NO_CRAWLER, ...options.settings }, version),
  )
  const { app, front } = createHttpServer(site, options)
  for (const endpoint of ENDPOINTS) addEndpointRoute(app, site, endpoint)
  for (const [path, page] of Object.entries(pages)) {
    const answer: RouteHandler = (request, reply) => handlePage(site, page, request, reply)
    addRoute(app, site, path, PAGE_METHODS, answer, { isHealth: HEALTH_PATHS.includes(path) })
  }
  addRoute(app, site, '/files/:filename', PAGE_METHODS, (request, reply) => handleFileByName(site, request, reply))
  const docs = new ApiDocs(document)
  for (const path of docs.paths) {
    addRoute(app, site, path, PAGE_METHODS, (request, reply) => docs.handle(responses, path, request, reply))
  }
  app.addHook('onClose', async () => {
    front.close()
    keyring.close()
    await quotaLimiter.close()
  })
  options.metrics.gauge('domaindex_connections', 'Connections that are open.', () => front.openConnections)
  options.metrics.gauge(
    'domaindex_requests_pending',
    'Requests that are read and not answered.',
    () => front.pendingRequests,
  )
  options.metrics.gauge(
    'domaindex_unparsed_bytes',
    'Bytes of requests that are read and not parsed.',
    () => front.unparsedBytes,
  )
  options.metrics.gauge(
    'domaindex_unsent_bytes',
    'Bytes of answers that clients have not taken.',
    () => responses.unsentBytes,
  )
  await app.ready()
  return {
    app,
    connections: front,
    drain: () => {
      responses.isDraining = true
    },
  }
}

async function createApiContext(options: ApiOptions): Promise<ApiContext> {
  const {
    store,
    similarSearch: retrieval,
    fileStore,
    settings,
    now,
    monotonicMs: ticks = () => performance.now(),
    isReady = () => true,
    log,
    metrics,
    lookupCrawlRequests = null,
  } = options
  const { facts, ledger } = store
  const clients = new ClientLimits({ ...NO_CLIENT_LIMITS, ...settings }, ticks, (reason) =>
    metrics.countRejection(reason),
  )
  const onFault = (err: unknown): void => log.error({ err }, 'ledger failed')
  const onRequestFault = (err: unknown): void => log.warn({ err }, 'cannot queue a crawl request')
  return {
    facts,
    similarSearch: retrieval,
    fileStore,
    authenticator: new Authenticator({ ledger, clients, limits: options.limits, now, monotonicMs: ticks }),
    callLimiter: new AccountConcurrencyLimiter(CALL_CONCURRENCY, ticks),
    downloadLimiter: new AccountConcurrencyLimiter(DOWNLOAD_CONCURRENCY, ticks),
    quotaLimiter: new QuotaLimiter({ ledger, holder: randomUUID(), onFault }),
    cursorKeyring: await openCursorKeyring({ ledger, now, onFault }),
    responses: { cors: settings.cors, unsentBytes: 0, isDraining: false },
    requestCrawl:
      lookupCrawlRequests === null
        ? () => {}
        : createCrawlRequester({ ...lookupCrawlRequests, now, onFault: onRequestFault }),
    isReady,
    clientLimits: clients,
    monotonicMs: ticks,
    metrics,
    log,
  }
}

function addEndpointRoute(app: FastifyInstance, site: ApiContext, endpoint: Endpoint): void {
  const answer: RouteHandler = (request, reply) => {
    request.accessRecord.endpoint = endpoint.name
    return handleQuery(site, endpoint, request, reply)
  }
  addRoute(app, site, `/v1.0/${endpoint.name}`, QUERY_METHODS, answer, { envelope: endpoint.envelope })
}

type RouteHandler = (request: FastifyRequest, reply: FastifyReply) => Promise<void>

/** A route whose handler sends the answer itself, and the answer to OPTIONS beside it. */
function addRoute(
  app: FastifyInstance,
  site: ApiContext,
  url: string,
  method: string[],
  handler: RouteHandler,
  config: FastifyContextConfig = {},
): void {
  const allow = [...method, 'OPTIONS'].join(', ')
  const preflight = { status: 204, body: [], headers: preflightHeaders(site.responses.cors, allow) }
  app.route({
    method,
    url,
    config,
    handler: (request, reply) => {
      request.accessRecord.path = url
      return handler(request, reply)
    },
  })
  app.options(url, (request, reply) => sendResponse(site.responses, request, reply, preflight))
}

function packageVersion(): string {
  return JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')).version
}
