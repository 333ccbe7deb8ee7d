/** A whole SQLite store, as the source or the target of a copy. */

import { existsSync } from 'node:fs'
import type { DatabaseSync, SQLInputValue } from 'node:sqlite'
import {
  type BulkRow,
  type BulkStore,
  type BulkTable,
  COPY_CONDITIONS,
  COPY_WATCH_VERSION,
  type LastNumbers,
  LEDGER_TABLES,
  rowFromJson,
  rowToJson,
} from '../../port/bulk.ts'
import { StoreFault } from '../../port/fault.ts'
import { pathExists } from '../../shared/access.ts'
import { writeTransaction } from '../database/connection.ts'
import { openSqliteFile } from '../database/file.ts'
import { SQLITE_FACTS_SCHEMA } from '../database/migrate.ts'
import { START_INVERSE_FILL } from '../inverse/maintenance.ts'
import { openLedgerFile } from '../ledger/file.ts'
import { openLedgerAt } from '../ledger/ledger-location.ts'
import type { StoreFiles } from '../locations.ts'
import { openFacts } from '../open.ts'

/** `read`: an existing store. `write`: creates the store if there is none. Throws StoreFault. */
export function openBulkSqlite(files: StoreFiles, access: 'read' | 'write'): BulkStore {
  const path = files.facts
  if (access === 'read' && !pathExists(path)) throw new StoreFault(`there is no store at ${path}`)
  if (access === 'write') requireNoOtherLedger(files)
  const facts = access === 'read' ? openFacts(path, { access }) : openSqliteFile(path, SQLITE_FACTS_SCHEMA, { access })
  const ledger = openLedgerAt(facts, files, (ledger) => openLedgerFile(ledger, access))
  const databaseOf = (table: BulkTable): DatabaseSync => (LEDGER_TABLES.includes(table) ? ledger : facts)
  return {
    count: async (table) =>
      databaseOf(table)
        .prepare(`select count(*) as rows from ${bulkSource(table)}`)
        .get()!.rows as number,
    read: async (table, after, limit) => readTableRows(databaseOf(table), table, after, limit),
    async write(table, rows, progress) {
      if (databaseOf(table) === ledger) writeTransaction(ledger, () => insertTableRows(ledger, table, rows))
      writeTransaction(facts, () => {
        if (databaseOf(table) === facts) insertTableRows(facts, table, rows)
        facts.prepare(`insert or replace into metadata (name, value) values ('copy', ?)`).run(progress)
      })
    },
    progress: async () =>
      (facts.prepare(`select value from metadata where name = 'copy'`).get()?.value ?? null) as string | null,
    lastNumbers: async () => ({
      ...ledgerNumbers(ledger),
      document: lastNumberOf(facts, 'document'),
      event: lastNumberOf(facts, 'event'),
    }),
    async finish({ document, event, ...ofLedger }) {
      setLastNumber(facts, 'document', document)
      setLastNumber(facts, 'event', event)
      for (const [table, number] of Object.entries(ofLedger)) setLastNumber(ledger, table, number)
      ledger.exec(COPY_WATCH_VERSION)
      facts.exec(START_INVERSE_FILL) // the inverse index is not copied
      facts.exec(`delete from metadata where name = 'copy'`)
    },
    async close() {
      if (access === 'write') for (const database of [facts, ledger]) database.exec('pragma wal_checkpoint(truncate)')
      facts.close()
      ledger.close()
    },
  }
}

function ledgerNumbers(ledger: DatabaseSync): Omit<LastNumbers, 'document' | 'event'> {
  return {
    account: lastNumberOf(ledger, 'account'),
    token: lastNumberOf(ledger, 'token'),
    session: lastNumberOf(ledger, 'session'),
    operator_token: lastNumberOf(ledger, 'operator_token'),
    audit: lastNumberOf(ledger, 'audit'),
    watch: lastNumberOf(ledger, 'watch'),
    webhook: lastNumberOf(ledger, 'webhook'),
  }
}

/** A ledger without facts belongs to another store: then nothing is created. */
function requireNoOtherLedger({ facts, ledger }: StoreFiles): void {
  if (existsSync(facts) || !existsSync(ledger)) return
  throw new StoreFault(
    `${ledger} is the ledger of another store, since there is none at ${facts}: set DOMAINDEX_LEDGER_TO to another path`,
  )
}

function bulkSource({ name }: BulkTable): string {
  return `"${name}" t where ${COPY_CONDITIONS[name] ?? 'true'}`
}

function readTableRows(database: DatabaseSync, table: BulkTable, after: string | null, limit: number) {
  const { columns, key, belongsToName } = table
  const keys = columns.slice(0, key).map((column) => `t."${column}"`)
  const from = after === null ? '' : `and (${keys}) > (${keys.map(() => '?')})`
  const owner = belongsToName ? ', (select name from facts f where f.id = t.id)' : ''
  const statement = database.prepare(
    `select ${columns.map((column) => `t."${column}"`)}${owner} from ${bulkSource(table)} ${from} order by ${keys} limit ${limit}`,
  )
  statement.setReturnArrays(true)
  const rows = statement.all(...((after === null ? [] : rowFromJson(after)) as SQLInputValue[])) as unknown as BulkRow[]
  const last = rows.length < limit ? undefined : rows.at(-1)
  return { rows, next: last ? rowToJson(last.slice(0, key)) : null }
}

function insertTableRows(database: DatabaseSync, { name, columns }: BulkTable, rows: readonly BulkRow[]): void {
  const statement = database.prepare(
    `insert or replace into "${name}" (${columns.map((column) => `"${column}"`)}) values (${columns.map(() => '?')})`,
  )
  for (const row of rows) statement.run(...(row.slice(0, columns.length) as SQLInputValue[]))
}

/** The highest number ever assigned in a table. */
function lastNumberOf(database: DatabaseSync, table: keyof LastNumbers): number {
  return (database.prepare('select seq from sqlite_sequence where name = ?').get(table)?.seq ?? 0) as number
}

function setLastNumber(database: DatabaseSync, table: string, number: number): void {
  database.prepare('delete from sqlite_sequence where name = ?').run(table)
  database.prepare('insert into sqlite_sequence (name, seq) values (?, ?)').run(table, number)
}
