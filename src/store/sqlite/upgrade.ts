/** Brings the files of a store up to this release. */

import { existsSync } from 'node:fs'
import { connect } from './connection.ts'
import type { StoreFiles } from './files.ts'
import { LEDGER_SCHEMA } from './ledger/file.ts'
import { expectLedger } from './ledger-place.ts'
import { FACTS_SCHEMA, migrate } from './migrate.ts'

/**
 * Runs what is pending, the facts first; with `plan` runs nothing. Returns the migrations, as in `facts/0002-name.sql`.
 * Throws StoreFault if the ledger lies elsewhere: its migrations would be passed over.
 */
export function migrateSqlite(files: StoreFiles, plan: boolean): string[] {
  const { facts, ledger } = files
  if (existsSync(facts)) expectLedgerOf(files)
  return [
    ...migrateFile(facts, FACTS_SCHEMA, plan).map((name) => `facts/${name}`),
    ...migrateFile(ledger, LEDGER_SCHEMA, plan).map((name) => `ledger/${name}`),
  ]
}

function expectLedgerOf(files: StoreFiles): void {
  const database = connect(files.facts)
  try {
    expectLedger(database, files)
  } finally {
    database.close()
  }
}

/** A file that is not there is made with the whole schema when the store is opened. */
function migrateFile(path: string, schema: URL, plan: boolean): string[] {
  if (!existsSync(path)) return []
  const database = connect(path, { durable: true })
  try {
    return migrate(database, schema, plan).map(({ name }) => name)
  } finally {
    database.close()
  }
}
