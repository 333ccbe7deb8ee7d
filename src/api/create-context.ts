/** Creates the context of the API from its options. */

import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { Logger } from 'pino'
import type { PlanLimitTable } from '../accounts/plan.ts'
import type { SimilarityService } from '../similar/query/similarity-service.ts'
import type { CrawlRequests } from '../store/port/crawl-requests.ts'
import type { Store } from '../store/port/store.ts'
import type { DomainName } from '../values/domain-name.ts'
import { type Day, dayOf, type Instant } from '../values/time.ts'
import { AttemptTurns } from './auth/attempt-limits.ts'
import { Authenticator } from './auth/authenticator.ts'
import { PasswordHasher } from './auth/password-hasher.ts'
import { OriginCheck, SessionAuthenticator } from './auth/session-authenticator.ts'
import type { ApiContext, HealthState, RequestCrawl } from './context/context.ts'
import type { Mailer, MailSettings } from './context/mailer.ts'
import { cachedFileList } from './files/file-list.ts'
import { ResponseBatch } from './http/direct/response-batch.ts'
import type { ReadableFileStore } from './http/files/file-response.ts'
import type { Cors } from './http/headers.ts'
import { type ClientLimitSettings, ClientLimits, NO_CLIENT_LIMITS } from './http/limits/client-limits.ts'
import {
  AccountConcurrencyLimiter,
  BATCH_CONCURRENCY,
  CALL_CONCURRENCY,
  DOWNLOAD_CONCURRENCY,
} from './http/limits/concurrency-limiter.ts'
import type { ApiMetrics } from './http/metrics.ts'
import { SYSTEM_TIMERS } from './http/timers.ts'
import type { CrawlerPageSettings } from './page/crawler-page.ts'
import type { WebPage } from './page/page.ts'
import { QuotaLimiter } from './quota/quota-limiter.ts'
import { openCursorKeyring } from './signing/keyring.ts'

export type ApiOptions = {
  store: Pick<Store, 'facts' | 'inverse' | 'events' | 'ledger'>
  similarSearch: SimilarityService
  fileStore: ReadableFileStore
  settings: {
    cors: Cors
    trustedProxies: readonly string[]
    directPath?: boolean
    /** The address that users see; null or missing: the host that they request. */
    publicUrl?: string | null
    webhookPrivate?: boolean
  } & Partial<CrawlerPageSettings & ClientLimitSettings>
  /** The limits of the plans; by default those of the specification. */
  limits?: PlanLimitTable | undefined
  /** How to send mail; null: the server sends none, and nobody can sign up. */
  mail?: MailSettings | null
  /** Reads what operators see of the crawl and the jobs; null: nothing. */
  operation?: (() => Promise<object>) | null
  /** The web page; null: the server has none. */
  page?: WebPage | null
  /** Names to try, for the start page. */
  examples?: readonly string[]
  /** Where lookups of unknown names cause crawl requests, and how many per account and day; null: none. */
  lookupCrawlRequests?: { crawlRequests: CrawlRequests; maxPerDay: number } | null
  /** Lets all processes of this server settle their charged units; by default there is only this one. */
  settleServer?: () => Promise<void>
  /** Whole Unix seconds. */
  now: () => Instant
  /** Milliseconds of a monotonic clock. */
  monotonicMs?: () => number
  /** Whether the server is ready, and if not, why; always `ok` by default. */
  readiness?: () => HealthState
  log: Logger
  metrics: ApiMetrics
}

/** Creates the objects that all requests of a process share. */
export async function createApiContext(options: ApiOptions): Promise<ApiContext> {
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
  const { facts, inverse, events, ledger } = store
  const clients = new ClientLimits({ ...NO_CLIENT_LIMITS, ...settings }, monotonicMs, (reason) =>
    metrics.countRejection(reason),
  )
  const onFault = (err: unknown): void => log.error({ err }, 'ledger failed')
  return {
    facts,
    inverse,
    events,
    similarSearch,
    fileStore,
    fileList: cachedFileList(fileStore, monotonicMs),
    operation: options.operation ?? null,
    ledger,
    authenticator: new Authenticator({ ledger, clients, limits: options.limits, now, monotonicMs }),
    ...pageContext(options, await openMailer(options), monotonicMs, onFault),
    ...concurrencyLimiters(monotonicMs),
    quotaLimiter: new QuotaLimiter({ ledger, holder: randomUUID(), onFault }),
    settleServer: options.settleServer ?? (async () => {}),
    cursorKeyring: await openCursorKeyring({ ledger, now, onFault }),
    responses: { cors: settings.cors, batch: new ResponseBatch(), unsentBytes: 0, isDraining: false },
    requestCrawl: crawlRequester(options),
    readiness,
    publicUrl: settings.publicUrl ?? null,
    allowsPrivateWebhooks: settings.webhookPrivate ?? false,
    clientLimits: clients,
    monotonicMs,
    metrics,
    log,
  }
}

function concurrencyLimiters(monotonicMs: () => number) {
  return {
    callLimiter: new AccountConcurrencyLimiter(CALL_CONCURRENCY, monotonicMs),
    batchLimiter: new AccountConcurrencyLimiter(BATCH_CONCURRENCY, monotonicMs),
    downloadLimiter: new AccountConcurrencyLimiter(DOWNLOAD_CONCURRENCY, monotonicMs),
  }
}

function crawlRequester({ lookupCrawlRequests = null, now, log }: ApiOptions): ApiContext['requestCrawl'] {
  const onFault = (err: unknown): void => log.warn({ err }, 'cannot queue a crawl request')
  return lookupCrawlRequests === null ? () => {} : createCrawlRequester({ ...lookupCrawlRequests, now, onFault })
}

type PageContext = Pick<
  ApiContext,
  'sessions' | 'origins' | 'passwords' | 'attemptTurns' | 'installation' | 'mailer' | 'background' | 'now' | 'wait'
>

/** Loads the mail library only if the installation sends mail: loading takes a tenth of the start of a worker. */
async function openMailer({ mail, log }: ApiOptions): Promise<Mailer | null> {
  if (!mail) return null
  const { Mailer } = await import('./context/mailer.ts')
  return new Mailer(mail, log)
}

/** What the paths of the web page need. */
function pageContext(
  options: ApiOptions,
  mailer: Mailer | null,
  monotonicMs: () => number,
  onFault: (fault: unknown) => void,
): PageContext {
  const { store, settings, limits, now } = options
  const { ledger } = store
  const origins = new OriginCheck(settings.publicUrl ?? null)
  return {
    sessions: new SessionAuthenticator({ ledger, origins, limits, now, monotonicMs, onFault }),
    origins,
    passwords: new PasswordHasher(),
    attemptTurns: new AttemptTurns(),
    installation: { version: packageVersion(), signUp: mailer !== null, examples: options.examples ?? [] },
    mailer,
    background: (work) => void setImmediate(work),
    now,
    wait: SYSTEM_TIMERS.wait,
  }
}

export function packageVersion(): string {
  return JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')).version
}

/** `maxPerDay`: names per account and day. `onFault` is called if a request cannot be stored. */
type CrawlRequesterOptions = {
  crawlRequests: CrawlRequests
  maxPerDay: number
  now: () => Instant
  onFault: (error: unknown) => void
}

/** The maximum number of requests in flight. */
const MAX_IN_FLIGHT_REQUESTS = 100
/** The maximum number of cached names, and of cached accounts. */
const MAX_REMEMBERED_NAMES = 10_000

/** Creates crawl requests for unknown names that callers look up, up to a number per account and day. */
function createCrawlRequester({ crawlRequests, maxPerDay, now, onFault }: CrawlRequesterOptions): RequestCrawl {
  let day: Day | null = null
  let inFlight = 0
  const requestedNames = new Set<DomainName>()
  const exhaustedAccounts = new Set<number>()

  const isRedundant = (account: number, name: DomainName, today: Day): boolean => {
    const isFull = requestedNames.size >= MAX_REMEMBERED_NAMES || exhaustedAccounts.size >= MAX_REMEMBERED_NAMES
    if (day !== today || isFull) {
      requestedNames.clear()
      exhaustedAccounts.clear()
      day = today
    }
    return exhaustedAccounts.has(account) || requestedNames.has(name) || inFlight >= MAX_IN_FLIGHT_REQUESTS
  }

  return (account, name) => {
    const today = dayOf(now())
    if (isRedundant(account, name, today)) return
    requestedNames.add(name)
    inFlight++
    const store = async (): Promise<void> => {
      if (!(await crawlRequests.requestFromLookup({ account, day: today, name, maxPerDay }))) {
        exhaustedAccounts.add(account)
        requestedNames.delete(name)
      }
    }
    store()
      .catch((error) => {
        requestedNames.delete(name)
        onFault(error)
      })
      .finally(() => inFlight--)
  }
}
