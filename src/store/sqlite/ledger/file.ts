/** Opens the file of the ledger. */

import type { DatabaseSync } from 'node:sqlite'
import type { Instant } from '../../../values/time.ts'
import { openSqliteFile } from '../database/file.ts'
import { withReserve } from './writing/disk-reserve.ts'

export const SQLITE_LEDGER_SCHEMA = new URL('../schema/ledger/', import.meta.url)

/** Pages in the log before a checkpoint: few, because every commit that triggers one waits for it. */
const LEDGER_WAL_CHECKPOINT_PAGES = 1_000

/** A connection that writes durably, or that only reads. Throws StoreFault. */
export function openLedgerFile(path: string, access: 'read' | 'write'): DatabaseSync {
  const database = withReserve(path, () => openSqliteFile(path, SQLITE_LEDGER_SCHEMA, { access, durable: true }))
  if (access === 'write') database.exec(`pragma wal_autocheckpoint = ${LEDGER_WAL_CHECKPOINT_PAGES}`)
  return database
}

/** A write that always changes a page, but no data. */
export function probeWrite(database: DatabaseSync) {
  return {
    probe: (now: Instant): void => database.exec(`pragma user_version = ${now % 2 ** 31}`),
  }
}
