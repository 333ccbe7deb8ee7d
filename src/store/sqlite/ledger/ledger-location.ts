/**
 * The path of the ledger, recorded in the facts, so that a store whose ledger was moved never continues with an empty
 * one.
 */

import { existsSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import { StoreFault } from '../../port/fault.ts'
import { pathExists } from '../../shared/access.ts'
import { connectSqlite } from '../database/connection.ts'
import { defaultLedgerPath, type StoreFiles } from '../locations.ts'

/**
 * Opens the ledger of a store and records its path. `database`: the facts. Throws StoreFault if it does not exist at
 * its path.
 */
export function openLedgerAt<Opened>(
  database: DatabaseSync,
  files: StoreFiles,
  open: (path: string) => Opened,
): Opened {
  requireLedger(database, files)
  const opened = open(files.ledger)
  recordLedgerPath(database, files)
  return opened
}

/**
 * Throws StoreFault if the ledger does not exist and the recorded path differs or its disk is not mounted. `database`:
 * the facts.
 */
export function requireLedger(database: DatabaseSync, { facts, ledger }: StoreFiles): void {
  if (pathExists(ledger)) return
  const recorded = recordedLedgerPath(database)
  if (recorded === ledger)
    throw new StoreFault(`the ledger ${ledger} does not exist: mount its disk, or restore a backup`)
  const lastPath = recorded ?? defaultLedgerPath(facts)
  if (recorded === null && (lastPath === ledger || !existsSync(lastPath))) return
  throw new StoreFault(
    `${ledger} does not exist, and the ledger of ${facts} was last at ${lastPath}: set DOMAINDEX_LEDGER to that, or end all servers and move it with its -wal and -shm`,
  )
}

/** Records no path if the ledger is at its default path beside the facts. */
function recordLedgerPath(database: DatabaseSync, { facts, ledger }: StoreFiles): void {
  const recorded = ledger === defaultLedgerPath(facts) ? null : ledger
  if (recordedLedgerPath(database) === recorded) return
  const writable = connectSqlite(facts)
  try {
    if (recorded === null) writable.exec(`delete from metadata where name = 'ledger'`)
    else writable.prepare(`insert or replace into metadata (name, value) values ('ledger', ?)`).run(recorded)
  } finally {
    writable.close()
  }
}

function recordedLedgerPath(database: DatabaseSync): string | null {
  // the file was just created
  if (!database.prepare(`select 1 from sqlite_schema where name = 'metadata'`).get()) return null
  const row = database.prepare(`select value from metadata where name = 'ledger'`).get()
  return (row?.value ?? null) as string | null
}
