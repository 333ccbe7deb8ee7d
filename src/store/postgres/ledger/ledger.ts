/** The ledger and the crawl requests on PostgreSQL: every process writes for itself, exact because of row locks. */

import type { Instant } from '../../../values/time.ts'
import type { CrawlRequests } from '../../port/crawl-requests.ts'
import type { Ledger } from '../../port/ledger.ts'
import { parseConfiguredSecrets } from '../../shared/secrets.ts'
import type { Database } from '../database/database.ts'
import { postgresAccountReads, postgresAccountWrites } from './accounts.ts'
import { postgresAudit } from './audit.ts'
import { forfeitingWriter, postgresBudgetReads, type QuotaCall } from './budget.ts'
import { postgresCrawlRequests } from './crawl-requests.ts'
import { durableTransaction } from './durable.ts'
import { groupCommit } from './group-commit.ts'
import { idempotentAnswers } from './operators/answers.ts'
import { postgresReleases, postgresReleaseWrites } from './operators/releases.ts'
import { postgresOperatorTokens, postgresOperatorTokenWrites } from './operators/tokens.ts'
import { postgresPaidFileReads } from './paid-files.ts'
import { postgresPlaceMarks } from './place-marks.ts'
import { acceptConfiguredSecrets, postgresSecrets, postgresSecretWrites } from './secrets.ts'
import { postgresPasswordWrites } from './sign-in/passwords.ts'
import { postgresSignIns } from './sign-in/sign-in.ts'
import { postgresTokenStanding } from './token-standing.ts'
import { postgresTokens, postgresTokenWrites } from './tokens.ts'
import { postgresUsage } from './usage.ts'

export const POSTGRES_LEDGER_SCHEMA = new URL('../schema/ledger/', import.meta.url)

export type PostgresLedgerOptions = {
  /** `NEW` or `NEW,FORMER`; null: the secret that the store generates. */
  secret: string | null
  /** Defaults to the server's clock. */
  now?: (() => Instant) | undefined
}

/** Opens the ledger of a database whose tables exist. Closing it leaves the database open. Throws StoreFault. */
export async function openPostgresLedger(
  opened: Database,
  { secret, now }: PostgresLedgerOptions,
): Promise<Ledger & CrawlRequests & { close(): Promise<void> }> {
  const database = { ...opened, transaction: durableTransaction(opened) }
  const configured = secret === null ? null : parseConfiguredSecrets(secret)
  if (configured !== null) await acceptConfiguredSecrets(database, configured)
  const { send, idle } = groupCommit<QuotaCall>(forfeitingWriter(database))
  return {
    ...postgresAccountReads(database),
    ...postgresTokens(database),
    ...postgresTokenStanding(database),
    ...postgresBudgetReads(database),
    ...postgresPaidFileReads(database),
    ...postgresPlaceMarks(database),
    ...postgresSignIns(database),
    ...postgresOperatorTokens(database),
    ...idempotentAnswers(database),
    ...postgresReleases(database),
    ...quotaWrites((call, at = now?.() ?? null) => send(call, at)),
    ...postgresUsage(database),
    ...postgresAudit(database),
    ...postgresSecrets(database, configured),
    ...postgresCrawlRequests(database),
    as: (actor) => ({
      ...postgresAccountWrites(database, actor, () => now?.() ?? null),
      ...postgresTokenWrites(database, actor),
      ...postgresSecretWrites(database, configured, actor),
      ...postgresPasswordWrites(database, actor),
      ...postgresOperatorTokenWrites(database, actor),
      ...postgresReleaseWrites(database, actor),
    }),
    close: idle,
  }
}

function quotaWrites(write: (call: QuotaCall, now?: Instant | null) => Promise<unknown>) {
  return {
    takeQuota: (request) => write({ kind: 'take', request }),
    payForFile: (purchase) => write({ kind: 'pay', purchase }),
    settleQuota: (settlements) => write({ kind: 'settle', settlements }),
    refundUnit: (account, day) => write({ kind: 'refund', account, day }),
    heartbeat: (holder, now) => write({ kind: 'heartbeat', holder }, now),
  } as Pick<Ledger, 'takeQuota' | 'payForFile' | 'settleQuota' | 'refundUnit' | 'heartbeat'>
}
