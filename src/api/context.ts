/** The context of the API: the objects that all requests of a process share. */

import type { Logger } from 'pino'
import { FileStoreFault } from '../jobs/file-store/file-store-fault.ts'
import type { SimilarityService } from '../similar/query/similarity-service.ts'
import { userMessageOf } from '../store/engines.ts'
import { StoreFault } from '../store/port/fault.ts'
import type { Ledger } from '../store/port/ledger.ts'
import type { FactsReader } from '../store/port/store.ts'
import type { Instant } from '../values/time.ts'
import type { Mailer } from './app/mail/mailer.ts'
import type { OriginCheck } from './app/origin-check.ts'
import type { SessionAuthenticator } from './app/session-authenticator.ts'
import type { AttemptTurns } from './app/sign-in/attempt-limits.ts'
import type { Authenticator } from './auth/authenticator.ts'
import type { PasswordHasher } from './auth/password-hasher.ts'
import type { RequestCrawl } from './crawl-requests.ts'
import type { CursorKeyring } from './cursor/keyring.ts'
import { ApiError, overloadedError } from './errors.ts'
import type { FileList } from './http/files/file-list.ts'
import type { ReadableFileStore } from './http/files/file-response.ts'
import type { ClientLimits } from './http/limits/client-limits.ts'
import type { AccountConcurrencyLimiter } from './http/limits/concurrency-limiter.ts'
import type { ResponseContext } from './http/response.ts'
import type { ApiMetrics } from './metrics.ts'
import type { HealthState } from './openapi/own-paths.ts'
import type { QuotaLimiter } from './quota/quota-limiter.ts'

export type ApiContext = {
  facts: FactsReader
  similarSearch: SimilarityService
  fileStore: ReadableFileStore
  fileList: FileList
  ledger: Ledger
  authenticator: Authenticator
  /** Resolves the sessions of the web page. */
  sessions: SessionAuthenticator
  origins: OriginCheck
  passwords: PasswordHasher
  attemptTurns: AttemptTurns
  /** What the web page shows about this installation. */
  installation: { version: string; signUp: boolean; examples: readonly string[] }
  /** The state of the crawl and the jobs for operators; null: this server does not read it. */
  operation: (() => Promise<object>) | null
  /** Null: the installation sends no mail. */
  mailer: Mailer | null
  /** Starts work for which no response waits. */
  background: (work: () => Promise<void>) => void
  /** Whole Unix seconds. */
  now: () => Instant
  /** Waits for milliseconds. */
  wait: (milliseconds: number) => Promise<unknown>
  /** Limits calls until their response is closed. */
  callLimiter: AccountConcurrencyLimiter
  /** Limits lines of batches until a long answer is sent. */
  batchLimiter: AccountConcurrencyLimiter
  /** Limits downloads until their last byte is sent. */
  downloadLimiter: AccountConcurrencyLimiter
  quotaLimiter: QuotaLimiter
  /** Lets all processes of this server settle their charged units. */
  settleServer: () => Promise<void>
  cursorKeyring: CursorKeyring
  responses: ResponseContext
  /** Requests a crawl of a name that an account looked up and that is unknown. */
  requestCrawl: RequestCrawl
  readiness: () => HealthState
  clientLimits: ClientLimits
  /** Milliseconds of a monotonic clock. */
  monotonicMs: () => number
  metrics: Pick<ApiMetrics, 'countRejection' | 'countBatchLine'>
  log: Logger
}

const STORE_UNAVAILABLE_MESSAGE = 'The store of this service does not respond: try again.'
const FILES_UNAVAILABLE_MESSAGE = 'The files of this service are not available at the moment: try again.'

/** What answers a call, without HTTP: also in a command that has no server. */
export type QueryContext = Pick<ApiContext, 'facts' | 'similarSearch' | 'fileStore' | 'requestCrawl'> & {
  quotaLimiter: Pick<QuotaLimiter, 'reserve'>
  cursorKeyring: Pick<CursorKeyring, 'keys'>
  log: Pick<Logger, 'error'>
}

/** The API error for a thrown value. An internal error is logged completely, and the client gets no details. */
export function toApiError({ log }: Pick<QueryContext, 'log'>, id: string, thrown: unknown): ApiError {
  if (thrown instanceof ApiError) return thrown
  log.error({ request: id, err: thrown }, 'internal error')
  if (thrown instanceof FileStoreFault) return overloadedError(FILES_UNAVAILABLE_MESSAGE)
  const isStoreFault = thrown instanceof StoreFault || userMessageOf(thrown) !== null
  return isStoreFault ? overloadedError(STORE_UNAVAILABLE_MESSAGE) : new ApiError('internal_error')
}
