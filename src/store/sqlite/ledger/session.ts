/** The session port of the ledger on SQLite: prepares the shared statements, and runs transactions inline. */

import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite'
import type { WatchIndex } from '../../../watch/watch-index.ts'
import { LEDGER_STATEMENTS, type LedgerMethods, ledgerTransactions } from '../../ledger/ledger.ts'
import {
  type Dialect,
  type LedgerQuery,
  type LedgerRead,
  type LedgerStatement,
  runTransactionInline,
  statementText,
  type Transaction,
} from '../../ledger/session.ts'
import { KnownWatches, refreshWatches, WATCHES } from '../../ledger/watches.ts'

const DIALECT: Dialect = {
  accountJson: `json_object('id', a.id, 'email', a.email, 'role', a.role, 'plan', a.plan, 'created', a.created,
    'suspended', a.suspended,
    'periods', json((select json_group_array(json_object('plan', plan, 'first', first, 'last', last) order by first)
      from period where account = a.id)),
    'addons', json((select json_group_array(addon order by addon) from addon where account = a.id)))`,
  emailKey: 'email',
  emailKeyOf: (parameter) => parameter,
  detailsWithoutName: `json_remove(details, '$.name')`,
}

/** One writer at a time needs no row locks. A limit that is an expression does not prepare the statement again. */
function sqliteText(statement: LedgerStatement): string {
  return statementText(statement, DIALECT)
    .replaceAll(/ for (no key )?update( skip locked)?/g, '')
    .replaceAll('limit $', 'limit +$')
    .replaceAll(/\$(?=\d)/g, '?')
}

type PreparedStatements = Map<LedgerStatement, StatementSync>

/** Prepares every shared statement. Throws if the schema does not match. */
function preparedStatements(database: DatabaseSync): PreparedStatements {
  return new Map(LEDGER_STATEMENTS.map((statement) => [statement, database.prepare(sqliteText(statement))]))
}

function rowsOf(statement: StatementSync, values: readonly unknown[]): unknown[] {
  return statement.all(...(values as SQLInputValue[])).map((row) => ({ ...row }))
}

export function sqliteLedgerRead(database: DatabaseSync): LedgerRead {
  const prepared = preparedStatements(database)
  return async <Row>(statement: LedgerStatement, values: readonly unknown[] = []) =>
    rowsOf(prepared.get(statement)!, values) as Row[]
}

/** Returns a function that reads the changes of the watches, for a writer of observations. */
export function watchReader(database: DatabaseSync): () => WatchIndex {
  const known = new KnownWatches()
  const prepared = new Map(Object.values(WATCHES).map((each) => [each, database.prepare(sqliteText(each))]))
  return () =>
    runTransactionInline(refreshWatches(known), ({ statement, values }) => rowsOf(prepared.get(statement)!, values))
}

/** The shared transactions as functions that run at once. */
export function sqliteLedgerMethods(database: DatabaseSync): LedgerMethods {
  const prepared = preparedStatements(database)
  const answer = ({ statement, values, returns }: LedgerQuery): unknown => {
    const found = prepared.get(statement)!
    return returns === 'rows' ? rowsOf(found, values) : Number(found.run(...(values as SQLInputValue[])).changes)
  }
  const inline =
    <Values extends readonly unknown[]>(transaction: (...values: Values) => Transaction<unknown>) =>
    (...values: Values): unknown =>
      runTransactionInline(transaction(...values), answer)
  return Object.fromEntries(
    Object.entries(ledgerTransactions).map(([name, transaction]) => [name, inline(transaction as never)]),
  ) as LedgerMethods
}
