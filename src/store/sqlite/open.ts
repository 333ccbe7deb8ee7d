/** Opens a store of two SQLite files: the facts, and beside them the ledger. */

import { existsSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { StoreFault } from '../fault.ts'
import type { OpenOptions } from '../options.ts'
import type { Store } from '../store.ts'
import { archiveOf } from './archive.ts'
import { connect, create } from './connection.ts'
import { factsOf } from './facts.ts'
import { makeFolder } from './folder.ts'
import { frontierOf } from './frontier.ts'
import { openLedger } from './ledger.ts'
import { logOf } from './log.ts'
import { migrate, pending } from './migrate.ts'

export const FACTS_SCHEMA = new URL('./schema/facts/', import.meta.url)

/** Where the ledger of a store lies. */
export function ledgerPath(path: string): string {
  return path.replace(/(\.[^./]*)?$/, '-ledger$1')
}

export async function openSqlite(given: string, options: Required<OpenOptions>): Promise<Store> {
  const path = resolve(given)
  const database = named(path, () => openFacts(path, options))
  const { ledger: mode, secret, now } = options
  const ledger = await openLedger(ledgerPath(path), { ledger: mode, secret, now })
  const log = logOf(database, path)
  return {
    frontier: frontierOf(database, log),
    facts: factsOf(database),
    ledger,
    archive: archiveOf(database, path),
    now: async () => now(),
    async close() {
      await ledger.close()
      if (options.access === 'write') log.flush()
      database.close()
    },
  }
}

/** Opens the facts, made where they are not there. */
function openFacts(path: string, { access, demo }: Required<OpenOptions>): DatabaseSync {
  makeFolder(dirname(path))
  const database = existsSync(path) ? connect(path) : create(path)
  const lacking = pending(database, FACTS_SCHEMA)
  const made = lacking[0]?.number === 1
  if (made) migrate(database, FACTS_SCHEMA)
  else if (lacking.length > 0) throw new StoreFault(`${path} is of an older release: run domaindex migrate`)
  if (made && demo) database.exec(`insert into mark values ('demo', 'yes')`)
  if (!demo && isDemo(database))
    throw new StoreFault(`${path} holds the demo's made-up world: name another store with DOMAINDEX_STORE`)
  if (access === 'write') return database
  database.close()
  return connect(path, { readOnly: true })
}

function isDemo(database: DatabaseSync): boolean {
  return database.prepare(`select 1 from mark where name = 'demo'`).get() !== undefined
}

/** SQLite's own errors, told with the file's name. */
function named<Result>(path: string, open: () => Result): Result {
  try {
    return open()
  } catch (error) {
    if (error instanceof StoreFault) throw error
    throw new StoreFault(`the store ${path} cannot be opened: ${(error as Error).message}`)
  }
}
