/** Migrates the files of a store to this release. */

import { pathExists } from '../shared/access.ts'
import { connectSqlite } from './database/connection.ts'
import { applySqliteMigrations, isEmptySqliteFile, SQLITE_FACTS_SCHEMA } from './database/migrate.ts'
import { SQLITE_LEDGER_SCHEMA } from './ledger/file.ts'
import { requireLedger } from './ledger/ledger-location.ts'
import type { StoreFiles } from './locations.ts'

/**
 * Runs the pending migrations, the facts first; with `plan` runs none. Returns their names, as in
 * `facts/0002-schedule.sql`. Throws StoreFault if the ledger is at another path, because its migrations would be skipped.
 */
export function migrateSqliteStore(files: StoreFiles, plan: boolean): string[] {
  const { facts, ledger } = files
  if (pathExists(facts)) expectLedgerOf(files)
  return [
    ...migrateSqliteFile(facts, SQLITE_FACTS_SCHEMA, plan).map((name) => `facts/${name}`),
    ...migrateSqliteFile(ledger, SQLITE_LEDGER_SCHEMA, plan).map((name) => `ledger/${name}`),
  ]
}

function expectLedgerOf(files: StoreFiles): void {
  const database = connectSqlite(files.facts)
  try {
    requireLedger(database, files)
  } finally {
    database.close()
  }
}

/** Skips a missing or empty file: it gets the whole schema when the store is opened. */
function migrateSqliteFile(path: string, schema: URL, plan: boolean): string[] {
  if (!pathExists(path)) return []
  const database = connectSqlite(path, { durable: true })
  try {
    if (isEmptySqliteFile(database)) return []
    return applySqliteMigrations(database, schema, plan).map(({ name }) => name)
  } finally {
    database.close()
  }
}
