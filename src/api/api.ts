/** Creates the API server: the seven endpoints and the other paths. */

import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { FastifyInstance } from 'fastify'
import type { Logger } from 'pino'
import type { PlanLimitTable } from '../accounts/plan.ts'
import type { SimilarityService } from '../similar/query/similarity-service.ts'
import type { CrawlRequests } from '../store/port/crawl-requests.ts'
import type { Store } from '../store/port/store.ts'
import type { Instant } from '../values/time.ts'
import { addDataRoutes } from './app/data-routes.ts'
import { OriginCheck } from './app/origin-check.ts'
import { SessionAuthenticator } from './app/session-authenticator.ts'
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
import type { DirectRoutes } from './http/direct/direct-path.ts'
import type { ApiReply, ApiRequest } from './http/exchange.ts'
import { cachedFileList } from './http/files/file-list.ts'
import type { ReadableFileStore } from './http/files/file-response.ts'
import { handleFileByName } from './http/files/files-by-name.ts'
import type { Cors } from './http/headers.ts'
import { type ClientLimitSettings, ClientLimits, NO_CLIENT_LIMITS } from './http/limits/client-limits.ts'
import { AccountConcurrencyLimiter, CALL_CONCURRENCY, DOWNLOAD_CONCURRENCY } from './http/limits/concurrency-limiter.ts'
import { handleQuery, type QuerySource } from './http/query-handler.ts'
import { readParameters } from './http/request.ts'
import { addRoute, type RouteHandler } from './http/routes.ts'
import { createHttpServer } from './http/server.ts'
import type { ApiMetrics } from './metrics.ts'
import { type HealthState, openApiDocument } from './openapi/document.ts'
import { handlePage, pageHandlers } from './own-paths.ts'
import type { WebPage } from './page/page.ts'
import { PROFILE_ROUTES, profileSource } from './profiles/routes.ts'
import { QuotaLimiter } from './quota/quota-limiter.ts'

const ENDPOINTS: readonly Endpoint[] = [lookup, redirect, reverseip, dnshistory, daily, snapshot, similar]

const NO_CRAWLER: CrawlerPageSettings = { crawlContact: null, crawlMinInterval: 0, crawlMaxInterval: 0 }

const QUERY_METHODS = ['GET', 'HEAD', 'POST']
/** The paths that are answered even in an overload. */
const HEALTH_PATHS = ['/healthz', '/readyz']
const PAGE_METHODS = ['GET', 'HEAD']

export type ApiOptions = {
  store: Pick<Store, 'facts' | 'ledger'>
  similarSearch: SimilarityService
  fileStore: ReadableFileStore
  settings: {
    cors: Cors
    trustedProxies: readonly string[]
    directPath?: boolean
    /** The address that users see; null or missing: the host that they request. */
    publicUrl?: string | null
  } & Partial<CrawlerPageSettings & ClientLimitSettings>
  /** The limits of the plans; by default those of the specification. */
  limits?: PlanLimitTable | undefined
  /** The web page; null: the server has none. */
  page?: WebPage | null
  /** Where lookups of unknown names cause crawl requests, and how many per account and day; null: none. */
  lookupCrawlRequests?: { crawlRequests: CrawlRequests; maxPerDay: number } | null
  /** Whole Unix seconds. */
  now: () => Instant
  /** Milliseconds of a monotonic clock. */
  monotonicMs?: () => number
  /** Whether the server is ready, and if not, why; always `ok` by default. */
  readiness?: () => HealthState
  log: Logger
  metrics: ApiMetrics
}

/** `drain`: from now on, every response closes its connection, and /readyz reports that the server is not ready. */
export type Api = { app: FastifyInstance; connections: ConnectionManager; drain: () => void }

/** Creates the server without listening. When it is closed, it settles all accounts and leaves the store open. */
export async function createApi(options: ApiOptions): Promise<Api> {
  const context = await createApiContext(options)
  const { responses, quotaLimiter, cursorKeyring } = context
  const version = packageVersion()
  const document = JSON.stringify(openApiDocument(ENDPOINTS, version))
  const pages = pageHandlers(context, document, crawlerPage({ ...NO_CRAWLER, ...options.settings }, version))
  const { page = null } = options
  const { app, front } = createHttpServer(context, {
    ...options,
    directRoutes: directRoutes(context),
    answerFirst: (request, reply) => page?.answer(responses, request, reply) ?? false,
  })
  for (const endpoint of ENDPOINTS) addEndpointRoute(app, context, endpoint)
  for (const [path, page] of Object.entries(pages)) {
    const handler: RouteHandler = (request, reply) => handlePage(context, page, request, reply)
    addRoute(app, context, path, PAGE_METHODS, handler, { isHealth: HEALTH_PATHS.includes(path) })
  }
  addProfileRoutes(app, context)
  addDataRoutes(app, context, ENDPOINTS)
  addRoute(app, context, '/files/:filename', PAGE_METHODS, (request, reply) =>
    handleFileByName(context, request, reply),
  )
  app.addHook('onClose', async () => {
    front.close()
    cursorKeyring.close()
    await quotaLimiter.close()
  })
  addConnectionGauges(options.metrics, front, responses)
  await app.ready()
  return {
    app,
    connections: front,
    drain: () => {
      responses.isDraining = true
    },
  }
}

function addConnectionGauges(metrics: ApiMetrics, front: ConnectionManager, responses: ApiContext['responses']): void {
  metrics.gauge('domaindex_connections', 'Open connections.', () => front.openConnections)
  metrics.gauge('domaindex_requests_pending', 'Parsed requests without a response.', () => front.pendingRequests)
  metrics.gauge('domaindex_unparsed_bytes', 'Request bytes that are read and not parsed.', () => front.unparsedBytes)
  metrics.gauge('domaindex_unsent_bytes', 'Response bytes that clients have not received.', () => responses.unsentBytes)
}

async function createApiContext(options: ApiOptions): Promise<ApiContext> {
  const {
    store,
    similarSearch,
    fileStore,
    settings,
    now,
    monotonicMs = () => performance.now(),
    readiness = () => 'ok',
    log,
    metrics,
  } = options
  const { facts, ledger } = store
  const clients = new ClientLimits({ ...NO_CLIENT_LIMITS, ...settings }, monotonicMs, (reason) =>
    metrics.countRejection(reason),
  )
  const onFault = (err: unknown): void => log.error({ err }, 'ledger failed')
  return {
    facts,
    similarSearch,
    fileStore,
    fileList: cachedFileList(fileStore, monotonicMs),
    ledger,
    authenticator: new Authenticator({ ledger, clients, limits: options.limits, now, monotonicMs }),
    ...sessionContext(options, monotonicMs, onFault),
    callLimiter: new AccountConcurrencyLimiter(CALL_CONCURRENCY, monotonicMs),
    downloadLimiter: new AccountConcurrencyLimiter(DOWNLOAD_CONCURRENCY, monotonicMs),
    quotaLimiter: new QuotaLimiter({ ledger, holder: randomUUID(), onFault }),
    cursorKeyring: await openCursorKeyring({ ledger, now, onFault }),
    responses: { cors: settings.cors, unsentBytes: 0, isDraining: false },
    requestCrawl: crawlRequester(options),
    readiness,
    clientLimits: clients,
    monotonicMs,
    metrics,
    log,
  }
}

function crawlRequester({ lookupCrawlRequests = null, now, log }: ApiOptions): ApiContext['requestCrawl'] {
  const onFault = (err: unknown): void => log.warn({ err }, 'cannot queue a crawl request')
  return lookupCrawlRequests === null ? () => {} : createCrawlRequester({ ...lookupCrawlRequests, now, onFault })
}

function sessionContext(
  { store: { ledger }, settings, limits, now }: ApiOptions,
  monotonicMs: () => number,
  onFault: (fault: unknown) => void,
): Pick<ApiContext, 'sessions' | 'origins'> {
  const origins = new OriginCheck(settings.publicUrl ?? null)
  return { sessions: new SessionAuthenticator({ ledger, origins, limits, now, monotonicMs, onFault }), origins }
}

function addEndpointRoute(app: FastifyInstance, context: ApiContext, endpoint: Endpoint): void {
  const { envelope } = endpoint
  addRoute(app, context, endpointPath(endpoint), QUERY_METHODS, v1Handler(context, endpoint), { envelope })
}

function addProfileRoutes(app: FastifyInstance, context: ApiContext): void {
  for (const { endpoint, path } of PROFILE_ROUTES) {
    addRoute(app, context, path, PAGE_METHODS, endpointHandler(context, endpoint, path, profileSource(context)))
  }
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

function packageVersion(): string {
  return JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')).version
}
