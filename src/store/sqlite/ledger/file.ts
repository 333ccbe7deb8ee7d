/** The file of the ledger. */

import type { DatabaseSync } from 'node:sqlite'
import { openFile } from '../file.ts'

export const LEDGER_SCHEMA = new URL('../schema/ledger/', import.meta.url)

/** Pages in the log before they are written back: few, because everyone who waits for a commit waits for that too. */
const LOG_PAGES = 1_000

/** A connection that writes durably, or only reads. Throws StoreFault. */
export function openLedgerFile(path: string, access: 'read' | 'write'): DatabaseSync {
  const database = openFile(path, LEDGER_SCHEMA, { access, durable: true })
  if (access === 'write') database.exec(`pragma wal_autocheckpoint = ${LOG_PAGES}`)
  return database
}
