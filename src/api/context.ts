/** The site: what every request of one process is answered with. */

import type { Logger } from 'pino'
import type { SimilarityService } from '../similar/query/similarity-service.ts'
import { StoreFault, userMessageOf } from '../store/port/fault.ts'
import type { FactsReader } from '../store/port/store.ts'
import type { Authenticator } from './auth/authenticator.ts'
import type { RequestCrawl } from './crawl-requests.ts'
import type { CursorKeyring } from './cursor/keyring.ts'
import { ApiError, overloadedError } from './errors.ts'
import type { ReadableFileStore } from './http/files/file-response.ts'
import type { ClientLimits } from './http/limits/client-limits.ts'
import type { AccountConcurrencyLimiter } from './http/limits/concurrency-limiter.ts'
import type { ResponseContext } from './http/response.ts'
import type { ApiMetrics } from './metrics.ts'
import type { QuotaLimiter } from './quota/quota-limiter.ts'

export type ApiContext = {
  facts: FactsReader
  similarSearch: SimilarityService
  fileStore: ReadableFileStore
  authenticator: Authenticator
  /** Of calls, until their answer is handed over; of downloads, until their last byte is. */
  callLimiter: AccountConcurrencyLimiter
  downloadLimiter: AccountConcurrencyLimiter
  quotaLimiter: QuotaLimiter
  cursorKeyring: CursorKeyring
  responses: ResponseContext
  /** Wants a name for an account that looked it up in vain. */
  requestCrawl: RequestCrawl
  isReady: () => boolean
  clientLimits: ClientLimits
  /** Milliseconds of a clock that is never set. */
  monotonicMs: () => number
  metrics: Pick<ApiMetrics, 'countRejection'>
  log: Logger
}

const STORE_UNAVAILABLE_MESSAGE = 'The store of this service does not answer: try again.'

/** The refusal that an error is answered with; a fault of ours is logged whole, and the client hears nothing of it. */
export function toApiError({ log }: Pick<ApiContext, 'log'>, id: string, thrown: unknown): ApiError {
  if (thrown instanceof ApiError) return thrown
  log.error({ request: id, err: thrown }, 'internal error')
  const isOfStore = thrown instanceof StoreFault || userMessageOf(thrown) !== null
  return isOfStore ? overloadedError(STORE_UNAVAILABLE_MESSAGE) : new ApiError('internal_error')
}
