/** The place of the ledger, noted in the facts: a store whose ledger was moved never goes on with an empty one. */

import { existsSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import { StoreFault } from '../../port/fault.ts'
import { connectSqlite } from '../database/connection.ts'
import { defaultLedgerPath, type StoreFiles } from '../database/file-paths.ts'

/** Opens the ledger of a store, and notes where it lies. Throws StoreFault if it is not there and lies elsewhere. `database`: the facts. */
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

/** Throws StoreFault if the ledger of a store is not there, and lies elsewhere or on a disk that is away. `database`: the facts. */
export function requireLedger(database: DatabaseSync, { facts, ledger }: StoreFiles): void {
  if (existsSync(ledger)) return
  const noted = recordedLedgerPath(database)
  if (noted === ledger) throw new StoreFault(`the ledger ${ledger} is not there: mount its disk, or restore a backup`)
  const other = noted ?? defaultLedgerPath(facts)
  if (noted === null && (other === ledger || !existsSync(other))) return
  throw new StoreFault(
    `${ledger} is not there, and the ledger of ${facts} was last at ${other}: set DOMAINDEX_LEDGER to that, or end all servers and move it with its -wal and -shm`,
  )
}

/** Nothing is noted of a ledger that lies beside the facts, as it does by default. */
function recordLedgerPath(database: DatabaseSync, { facts, ledger }: StoreFiles): void {
  const noted = ledger === defaultLedgerPath(facts) ? null : ledger
  if (recordedLedgerPath(database) === noted) return
  const writing = connectSqlite(facts)
  try {
    if (noted === null) writing.exec(`delete from metadata where name = 'ledger'`)
    else writing.prepare(`insert or replace into metadata (name, value) values ('ledger', ?)`).run(noted)
  } finally {
    writing.close()
  }
}

function recordedLedgerPath(database: DatabaseSync): string | null {
  if (!database.prepare(`select 1 from sqlite_schema where name = 'metadata'`).get()) return null // a file that was just made
  const row = database.prepare(`select value from metadata where name = 'ledger'`).get()
  return (row?.value ?? null) as string | null
}
