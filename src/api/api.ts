/** The API: the seven endpoints and the paths beside them, as one HTTP server. */

import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { FastifyContextConfig, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Logger } from 'pino'
import type { Limits } from '../accounts/plan.ts'
import type { Retrieval } from '../retrieval/retrieval.ts'
import type { Store } from '../store/store.ts'
import type { Wishes } from '../store/wishes.ts'
import type { Instant } from '../words/time.ts'
import { send } from './answer.ts'
import { type ClientLimitSettings, ClientLimits, NO_LIMITS } from './client-limits.ts'
import { type Crawling, crawlerPage } from './crawler-page.ts'
import { Docs } from './docs.ts'
import type { Reading } from './download.ts'
import type { Endpoint } from './endpoint.ts'
import { daily } from './endpoints/daily.ts'
import { dnshistory } from './endpoints/dnshistory.ts'
import { lookup } from './endpoints/lookup.ts'
import { redirect } from './endpoints/redirect.ts'
import { reverseip } from './endpoints/reverseip.ts'
import { similar } from './endpoints/similar.ts'
import { snapshot } from './endpoints/snapshot.ts'
import { answerFile } from './files.ts'
import type { Front } from './front.ts'
import { Gate } from './gate.ts'
import { type Cors, preflightHeaders } from './headers.ts'
import { openKeyring } from './keyring.ts'
import { CALLS, DOWNLOADS, Lanes } from './lanes.ts'
import { Meter } from './meter.ts'
import type { Metrics } from './metrics.ts'
import { openApi } from './openapi.ts'
import { answerPage, pagesOf } from './pages.ts'
import { makeServer } from './server.ts'
import type { Site } from './site.ts'
import { walk } from './walk.ts'
import { makeWishing } from './wishing.ts'

const ENDPOINTS: readonly Endpoint[] = [lookup, redirect, reverseip, dnshistory, daily, snapshot, similar]

const NOT_CRAWLING: Crawling = { crawlContact: null, crawlSoonest: 0, crawlLatest: 0 }

const QUERY_METHODS = ['GET', 'HEAD', 'POST']
/** Answered in an overload too. */
const HEALTH = ['/healthz', '/readyz']
const PAGE_METHODS = ['GET', 'HEAD']

export type ApiOptions = {
  store: Pick<Store, 'facts' | 'ledger'>
  /** Who says which start pages read alike. */
  retrieval: Retrieval
  shelf: Reading
  settings: { cors: Cors; trustedProxies: readonly string[] } & Partial<Crawling & ClientLimitSettings>
  /** Of the plans; by default those of the specification. */
  limits?: Limits | undefined
  /** Where names are wanted that are looked up in vain, and how many an account and day; nowhere by default. */
  asked?: { wishes: Wishes; most: number } | null
  /** Whole Unix seconds. */
  now: () => Instant
  /** Milliseconds of a clock that is never set. */
  ticks?: () => number
  /** Whether the store can be asked; always by default. */
  isReady?: () => boolean
  log: Logger
  metrics: Metrics
}

/** `drain`: from now on every answer closes its connection, and /readyz says that no more requests are welcome. */
export type Api = { app: FastifyInstance; front: Front; drain: () => void }

/** Builds the server; it does not listen yet. Closing it settles all accounts and leaves the store open. */
export async function buildApi(options: ApiOptions): Promise<Api> {
  const site = await makeSite(options)
  const { outlet, meter, keyring } = site
  const version = readVersion()
  const document = openApi(ENDPOINTS, version)
  const pages = pagesOf(site, JSON.stringify(document), crawlerPage({ ...NOT_CRAWLING, ...options.settings }, version))
  const { app, front } = makeServer(site, options)
  for (const endpoint of ENDPOINTS) addEndpoint(app, site, endpoint)
  for (const [path, page] of Object.entries(pages)) {
    const answer: Handler = (request, reply) => answerPage(site, page, request, reply)
    addRoute(app, site, path, PAGE_METHODS, answer, { isHealth: HEALTH.includes(path) })
  }
  addRoute(app, site, '/files/:filename', PAGE_METHODS, (request, reply) => answerFile(site, request, reply))
  const docs = new Docs(document)
  for (const path of docs.paths) {
    addRoute(app, site, path, PAGE_METHODS, (request, reply) => docs.answer(outlet, path, request, reply))
  }
  app.addHook('onClose', async () => {
    front.close()
    keyring.close()
    await meter.close()
  })
  options.metrics.gauge('domaindex_connections', 'Connections that are open.', () => front.open)
  options.metrics.gauge('domaindex_requests_waiting', 'Requests that are read and not answered.', () => front.waiting)
  options.metrics.gauge(
    'domaindex_held_bytes',
    'Bytes of requests that are read and not parsed.',
    () => front.heldBytes,
  )
  options.metrics.gauge('domaindex_unsent_bytes', 'Bytes of answers that clients have not taken.', () => outlet.unsent)
  await app.ready()
  return {
    app,
    front,
    drain: () => {
      outlet.isDraining = true
    },
  }
}

async function makeSite(options: ApiOptions): Promise<Site> {
  const {
    store,
    retrieval,
    shelf,
    settings,
    now,
    ticks = () => performance.now(),
    isReady = () => true,
    log,
    metrics,
    asked = null,
  } = options
  const { facts, ledger } = store
  const clients = new ClientLimits({ ...NO_LIMITS, ...settings }, ticks, (reason) => metrics.refuse(reason))
  const onFault = (err: unknown): void => log.error({ err }, 'the ledger failed')
  const onWish = (err: unknown): void => log.warn({ err }, 'a name that was looked up in vain could not be queued')
  return {
    facts,
    retrieval,
    shelf,
    gate: new Gate({ ledger, clients, limits: options.limits, now, ticks }),
    lanes: new Lanes(CALLS, ticks),
    downloads: new Lanes(DOWNLOADS, ticks),
    meter: new Meter({ ledger, holder: randomUUID(), onFault }),
    keyring: await openKeyring({ ledger, now, onFault }),
    outlet: { cors: settings.cors, unsent: 0, isDraining: false },
    wishing: asked === null ? () => {} : makeWishing({ ...asked, now, onFault: onWish }),
    isReady,
    clients,
    ticks,
    metrics,
    log,
  }
}

function addEndpoint(app: FastifyInstance, site: Site, endpoint: Endpoint): void {
  const answer: Handler = (request, reply) => {
    request.visit.endpoint = endpoint.name
    return walk(site, endpoint, request, reply)
  }
  addRoute(app, site, `/v1.0/${endpoint.name}`, QUERY_METHODS, answer, { envelope: endpoint.envelope })
}

type Handler = (request: FastifyRequest, reply: FastifyReply) => Promise<void>

/** A route whose handler sends the answer itself, and the answer to OPTIONS beside it. */
function addRoute(
  app: FastifyInstance,
  site: Site,
  url: string,
  method: string[],
  handler: Handler,
  config: FastifyContextConfig = {},
): void {
  const allow = [...method, 'OPTIONS'].join(', ')
  const preflight = { status: 204, body: [], headers: preflightHeaders(site.outlet.cors, allow) }
  app.route({
    method,
    url,
    config,
    handler: (request, reply) => {
      request.visit.path = url
      return handler(request, reply)
    },
  })
  app.options(url, (request, reply) => send(site.outlet, request, reply, preflight))
}

function readVersion(): string {
  return JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')).version
}
