/** A whole store of SQLite, for a copy from it or to it. */

import { existsSync } from 'node:fs'
import type { DatabaseSync, SQLInputValue } from 'node:sqlite'
import {
  type Bulk,
  type BulkRow,
  COPIED,
  LEDGER_TABLES,
  type Numbered,
  readRowText,
  rowText,
  type Table,
} from '../bulk.ts'
import { StoreFault } from '../fault.ts'
import { transaction } from './connection.ts'
import { openFile } from './file.ts'
import type { StoreFiles } from './files.ts'
import { openLedgerFile } from './ledger/file.ts'
import { openAtPlace } from './ledger-place.ts'
import { FACTS_SCHEMA } from './migrate.ts'
import { openFacts } from './open.ts'

/** `read`: a store that is there. `write`: one that is made where there is none. Throws StoreFault. */
export function openBulkSqlite(files: StoreFiles, access: 'read' | 'write'): Bulk {
  const path = files.facts
  if (access === 'read' && !existsSync(path)) throw new StoreFault(`there is no store at ${path}`)
  if (access === 'write') expectNoOther(files)
  const facts = access === 'read' ? openFacts(path, { access }) : openFile(path, FACTS_SCHEMA, { access })
  const ledger = openAtPlace(facts, files, (ledger) => openLedgerFile(ledger, access))
  const databaseOf = (table: Table): DatabaseSync => (LEDGER_TABLES.includes(table) ? ledger : facts)
  return {
    count: async (table) =>
      databaseOf(table)
        .prepare(`select count(*) as rows from ${sourceOf(table)}`)
        .get()!.rows as number,
    read: async (table, after, limit) => read(databaseOf(table), table, after, limit),
    async write(table, rows, mark) {
      if (databaseOf(table) === ledger) transaction(ledger, () => insert(ledger, table, rows))
      transaction(facts, () => {
        if (databaseOf(table) === facts) insert(facts, table, rows)
        facts.prepare(`insert or replace into mark (name, value) values ('copy', ?)`).run(mark)
      })
    },
    mark: async () =>
      (facts.prepare(`select value from mark where name = 'copy'`).get()?.value ?? null) as string | null,
    numbered: async () => ({
      account: numberOf(ledger, 'account'),
      token: numberOf(ledger, 'token'),
      audit: numberOf(ledger, 'audit'),
      wording: numberOf(facts, 'wording'),
    }),
    async finish({ wording, ...ofLedger }) {
      goOnBehind(facts, 'wording', wording)
      for (const [table, number] of Object.entries(ofLedger)) goOnBehind(ledger, table, number)
      facts.exec(`delete from mark where name = 'copy'`)
    },
    async close() {
      if (access === 'write') for (const each of [facts, ledger]) each.exec('pragma wal_checkpoint(truncate)')
      facts.close()
      ledger.close()
    },
  }
}

/** A ledger without its facts is that of another store: nothing is made then. */
function expectNoOther({ facts, ledger }: StoreFiles): void {
  if (existsSync(facts) || !existsSync(ledger)) return
  throw new StoreFault(
    `${ledger} is the ledger of another store, since there is none at ${facts}: name another place with DOMAINDEX_LEDGER_TO`,
  )
}

function sourceOf({ name }: Table): string {
  return `"${name}" t where ${COPIED[name] ?? 'true'}`
}

function read(database: DatabaseSync, table: Table, after: string | null, limit: number) {
  const { columns, key, owned } = table
  const keys = columns.slice(0, key).map((column) => `t."${column}"`)
  const from = after === null ? '' : `and (${keys}) > (${keys.map(() => '?')})`
  const owner = owned ? ', (select name from facts f where f.id = t.id)' : ''
  const statement = database.prepare(
    `select ${columns.map((column) => `t."${column}"`)}${owner} from ${sourceOf(table)} ${from} order by ${keys} limit ${limit}`,
  )
  statement.setReturnArrays(true)
  const rows = statement.all(...((after === null ? [] : readRowText(after)) as SQLInputValue[])) as unknown as BulkRow[]
  const last = rows.length < limit ? undefined : rows.at(-1)
  return { rows, next: last ? rowText(last.slice(0, key)) : null }
}

function insert(database: DatabaseSync, { name, columns }: Table, rows: readonly BulkRow[]): void {
  const statement = database.prepare(
    `insert or replace into "${name}" (${columns.map((column) => `"${column}"`)}) values (${columns.map(() => '?')})`,
  )
  for (const row of rows) statement.run(...(row.slice(0, columns.length) as SQLInputValue[]))
}

/** The highest number that was ever given in a table. */
function numberOf(database: DatabaseSync, table: keyof Numbered): number {
  return (database.prepare('select seq from sqlite_sequence where name = ?').get(table)?.seq ?? 0) as number
}

function goOnBehind(database: DatabaseSync, table: string, number: number): void {
  database.prepare('delete from sqlite_sequence where name = ?').run(table)
  database.prepare('insert into sqlite_sequence (name, seq) values (?, ?)').run(table, number)
}
