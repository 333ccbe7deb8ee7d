/** The file of the ledger: made where it is not there, refused where it is of another release. */

import { existsSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import { StoreFault } from '../../fault.ts'
import { connect, create } from '../connection.ts'
import { migrate, pending } from '../migrate.ts'

export const LEDGER_SCHEMA = new URL('../schema/ledger/', import.meta.url)

/** Pages in the log before they are written back: few, because everyone who waits for a commit waits for that too. */
const LOG_PAGES = 1_000

/** A connection that writes durably, or only reads. Throws StoreFault. */
export function openLedgerFile(path: string, access: 'read' | 'write'): DatabaseSync {
  try {
    prepare(path)
    if (access === 'read') return connect(path, { readOnly: true })
    const database = connect(path, { durable: true })
    database.exec(`pragma wal_autocheckpoint = ${LOG_PAGES}`)
    return database
  } catch (error) {
    if (error instanceof StoreFault) throw error
    throw new StoreFault(`the ledger ${path} cannot be opened: ${(error as Error).message}`)
  }
}

function prepare(path: string): void {
  const database = existsSync(path) ? connect(path, { durable: true }) : create(path)
  try {
    const lacking = pending(database, LEDGER_SCHEMA)
    if (lacking[0]?.number === 1) migrate(database, LEDGER_SCHEMA)
    else if (lacking.length > 0) throw new StoreFault(`${path} is of an older release: run domaindex migrate`)
  } finally {
    database.close()
  }
}
