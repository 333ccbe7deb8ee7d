/** The session port of the ledger on PostgreSQL: durable transactions that are run again after a conflict. */

import type { Instant } from '../../../values/time.ts'
import type { WatchIndex } from '../../../watch/watch-index.ts'
import { type LedgerMethods, ledgerTransactions } from '../../ledger/ledger.ts'
import {
  type Dialect,
  type LedgerRead,
  type LedgerStatement,
  type LedgerWrite,
  runTransactionAsync,
  statementText,
  type Transaction,
} from '../../ledger/session.ts'
import { type KnownWatches, refreshWatches } from '../../ledger/watches.ts'
import type { Statement } from '../database/connection.ts'
import type { Database } from '../database/database.ts'
import type { ReadStatement } from '../database/pipelined-reader.ts'
import type { Session } from '../database/transaction.ts'

const DIALECT: Dialect = {
  accountJson: `json_build_object('id', a.id, 'email', a.email, 'role', a.role, 'plan', a.plan, 'created', a.created,
    'suspended', a.suspended,
    'periods', coalesce((select json_agg(json_build_object('plan', plan, 'first', first, 'last', last) order by first)
      from period where account = a.id), '[]'),
    'addons', coalesce((select json_agg(addon order by addon) from addon where account = a.id), '[]'))::text`,
  emailKey: 'lower(email)',
  emailKeyOf: (parameter) => `lower(${parameter} collate "C")`,
  detailsWithoutName: `(details::jsonb - 'name')::text`,
}

const postgresStatements = new WeakMap<LedgerStatement, Statement>()

function postgresStatement(statement: LedgerStatement): Statement {
  const known = postgresStatements.get(statement)
  if (known !== undefined) return known
  const translated = { name: `ledger.${statement.name}`, text: statementText(statement, DIALECT) }
  postgresStatements.set(statement, translated)
  return translated
}

/** Reads the changes of the watches in a transaction of a writer of observations. */
export function refreshWatchesIn({ rows }: Session, known: KnownWatches): Promise<WatchIndex> {
  return runTransactionAsync(refreshWatches(known), ({ statement, values }) =>
    rows(postgresStatement(statement), values),
  )
}

/** `read`: for short statements, or for those that take milliseconds. */
export function postgresLedgerRead(read: ReadStatement): LedgerRead {
  return (statement, values) => read(postgresStatement(statement), values)
}

/** Runs statements in one transaction. `work` is called again after a conflict. */
export type RunLedgerTransaction = <Result>(work: () => Transaction<Result>) => Promise<Result>

export function ledgerTransactionRunner(transaction: Database['transaction']): RunLedgerTransaction {
  return (work) =>
    transaction((session) =>
      runTransactionAsync(work(), ({ statement, values, returns }) =>
        session[returns === 'rows' ? 'rows' : 'run'](postgresStatement(statement), values),
      ),
    )
}

/** `now`: the time of changes without one. */
export function postgresLedgerWrite(
  runTransaction: RunLedgerTransaction,
  now: () => Promise<Instant>,
): LedgerWrite<LedgerMethods> {
  return async (name, values, at) => {
    const time = at ?? (await now())
    const transaction = ledgerTransactions[name] as (now: Instant, ...values: unknown[]) => Transaction<never>
    return runTransaction(() => transaction(time, ...values))
  }
}

const REQUIRE_SYNCHRONOUS_COMMIT = {
  name: 'ledger.durable',
  text: `select set_config('synchronous_commit', case setting when 'off' then 'on' else setting end, true)
    from (select current_setting('synchronous_commit')) as now (setting)`,
}

/** Makes transactions survive a loss of power, even if the server is configured to reply earlier. */
export function durableTransaction({ transaction }: Pick<Database, 'transaction'>): Database['transaction'] {
  return (work) =>
    transaction(async (session) => {
      const [result] = await Promise.all([work(session), session.rows(REQUIRE_SYNCHRONOUS_COMMIT)])
      return result
    })
}
