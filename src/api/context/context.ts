/** The context of the API: the objects that all requests of a process share. */

import type { Logger } from 'pino'
import type { FileManifest } from '../../jobs/file-store/file-store.ts'
import type { SimilarityService } from '../../similar/query/similarity-service.ts'
import type { InverseReader } from '../../store/port/inverse.ts'
import type { Ledger } from '../../store/port/ledger.ts'
import type { FactsReader } from '../../store/port/store.ts'
import type { EventReader } from '../../store/port/watch/events.ts'
import type { DomainName } from '../../values/domain-name.ts'
import type { Instant } from '../../values/time.ts'
import type { AttemptTurns } from '../auth/attempt-limits.ts'
import type { Authenticator } from '../auth/authenticator.ts'
import type { PasswordHasher } from '../auth/password-hasher.ts'
import type { OriginCheck, SessionAuthenticator } from '../auth/session-authenticator.ts'
import type { ReadableFileStore } from '../http/files/file-response.ts'
import type { AccountConcurrencyLimiter } from '../http/limits/concurrency-limiter.ts'
import type { HttpContext } from '../http/limits/overload.ts'
import type { ApiMetrics } from '../http/metrics.ts'
import type { QuotaLimiter } from '../quota/quota-limiter.ts'
import type { CursorKeyring } from '../signing/keyring.ts'
import type { Mailer } from './mailer.ts'

export type ApiContext = HttpContext & {
  facts: FactsReader
  inverse: InverseReader
  events: EventReader
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
  /** The address that users see; null if it is not set. */
  publicUrl: string | null
  /** Whether webhooks may have private addresses, http:// and any port. */
  allowsPrivateWebhooks: boolean
  /** Null: the installation sends no mail. */
  mailer: Mailer | null
  /** Starts work for which no response waits. */
  background: (work: () => Promise<unknown>) => void
  /** Whole Unix seconds. */
  now: () => Instant
  /** Waits for milliseconds. */
  wait: (milliseconds: number) => Promise<unknown>
  /** Limits lines of batches until a long answer is sent. */
  batchLimiter: AccountConcurrencyLimiter
  /** Limits downloads and streams of events until their last byte is sent. */
  downloadLimiter: AccountConcurrencyLimiter
  quotaLimiter: QuotaLimiter
  /** Lets all processes of this server settle their charged units. */
  settleServer: () => Promise<void>
  cursorKeyring: CursorKeyring
  /** Requests a crawl of a name that an account looked up and that is unknown. */
  requestCrawl: RequestCrawl
  readiness: () => HealthState
  metrics: Pick<ApiMetrics, 'countBatchLine'>
}

/** What answers a call, without HTTP: also in a command that has no server. */
export type QueryContext = Pick<ApiContext, 'facts' | 'inverse' | 'similarSearch' | 'fileStore' | 'requestCrawl'> & {
  quotaLimiter: Pick<QuotaLimiter, 'reserve'>
  cursorKeyring: Pick<CursorKeyring, 'keys'>
  log: Pick<Logger, 'error'>
}

/** What `/healthz` and `/readyz` report. */
export const HEALTH_STATES = [
  'ok',
  'draining',
  'waiting for the other workers',
  'waiting for the store',
  'the clock differs from that of the store',
  'a place for files is wrong',
] as const
export type HealthState = (typeof HEALTH_STATES)[number]

/** Requests a crawl of a name for an account, in the background. */
export type RequestCrawl = (account: number, name: DomainName) => void

/** The published files by date, those of a date in the order of FILE_KINDS. */
export type FileList = () => Promise<readonly FileManifest[]>
