/** The ledger and the crawl requests on PostgreSQL: every process writes for itself, exact because of row locks. */

import type { Instant } from '../../../values/time.ts'
import { sharedLedger } from '../../ledger/ledger.ts'
import type { CrawlRequests } from '../../port/crawl-requests.ts'
import type { Ledger, UsageNote } from '../../port/ledger.ts'
import { parseConfiguredSecrets } from '../../shared/secrets.ts'
import type { Database } from '../database/database.ts'
import { forfeitingWriter, type QuotaCall } from './budget.ts'
import { postgresCrawlRequests } from './crawl-requests.ts'
import { groupCommit } from './group-commit.ts'
import { acceptConfiguredSecrets } from './secrets.ts'
import { durableTransaction, ledgerTransactionRunner, postgresLedgerRead, postgresLedgerWrite } from './session.ts'

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
  const read = postgresLedgerRead(database.read)
  const runTransaction = ledgerTransactionRunner(database.transaction)
  const clock = now ? async () => now() : database.now
  if (configured !== null) await acceptConfiguredSecrets(read, runTransaction, configured, await clock())
  const { send, idle } = groupCommit<QuotaCall>(forfeitingWriter(database))
  return {
    ...sharedLedger(read, postgresLedgerWrite(runTransaction, clock), configured),
    ...quotaWrites((call, at = now?.() ?? null) => send(call, at)),
    recordUsage: usageRecorder(database),
    ...postgresCrawlRequests(database, read),
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

/** Records nothing for a deleted account. Rows are locked in key order. */
const RECORD_USAGE = {
  name: 'usage.record',
  text: `with known as materialized (select id from account where id = any($1) order by id for key share),
    noted as materialized (
      select n.* from unnest($1::integer[], $2::text[], $3::text[], $4::integer[], $5::bigint[], $6::bigint[])
        as n (account, day, endpoint, token, calls, last_call) join known on id = n.account),
    used as materialized (
      select t.id, n.last_call from (select account, token, max(last_call) as last_call from noted group by 1, 2) n
      join token t on t.id = n.token and t.account = n.account
      where t.last_used is null or t.last_used < n.last_call order by t.id for no key update of t),
    touched as (update token t set last_used = used.last_call from used where t.id = used.id)
    insert into usage (account, day, endpoint, token, calls)
    select account, day, endpoint, token, sum(calls) from noted group by 1, 2, 3, 4 order by 1, 2, 3, 4
    on conflict (account, day, endpoint, token) do update set calls = usage.calls + excluded.calls`,
}

function usageRecorder({ transaction }: Pick<Database, 'transaction'>): Ledger['recordUsage'] {
  return (calls) => transaction(async ({ run }) => void (await run(RECORD_USAGE, usageColumns(calls))))
}

function usageColumns(calls: readonly UsageNote[]): unknown[][] {
  const keys = ['account', 'day', 'endpoint', 'token', 'calls', 'lastCall'] as const
  return keys.map((key) => calls.map((call) => call[key]))
}
