/** Opens a store of two SQLite files: the facts, and the ledger, beside them or elsewhere. */

import type { DatabaseSync } from 'node:sqlite'
import { StoreFault } from '../fault.ts'
import type { OpenOptions } from '../options.ts'
import type { Store } from '../store.ts'
import { archiveOf } from './archive.ts'
import { factsOf } from './facts.ts'
import { openFile } from './file.ts'
import type { StoreFiles } from './files.ts'
import { frontierOf } from './frontier.ts'
import { indexingOf } from './indexing.ts'
import { jobsOf } from './jobs.ts'
import { withReserve } from './ledger/reserve.ts'
import { openLedger } from './ledger.ts'
import { openAtPlace } from './ledger-place.ts'
import { listingOf } from './listing.ts'
import { logOf } from './log.ts'
import { FACTS_SCHEMA } from './migrate.ts'
import { probeOf } from './probe.ts'
import { scheduleOf } from './schedule.ts'
import { similarOf } from './similar.ts'

const DEMO = "the demo's made-up world: name another store with DOMAINDEX_STORE"
const UNFINISHED = 'a part of another store: run domaindex copy again, which goes on with it'

type SqliteOptions = OpenOptions & Required<Pick<OpenOptions, 'now' | 'demo'>>

export async function openSqlite(files: StoreFiles, options: SqliteOptions): Promise<Store> {
  const path = files.facts
  const database = withReserve(files.ledger, () => openFacts(path, options))
  const { ledger: mode, secret, now } = options
  const ledger = endedWith(database, () =>
    openAtPlace(database, files, (at) => {
      try {
        return openLedger(at, { ledger: mode, secret, now })
      } catch (error) {
        throw wordedOf(at, error)
      }
    }),
  )
  try {
    return storeOf(files, database, ledger, options)
  } catch (error) {
    await ledger.close().finally(() => database.close())
    throw wordedOf(path, error)
  }
}

/** SQLite's result code for a statement that does not fit the schema. */
const SCHEMA_CODE = 1

function wordedOf(path: string, error: unknown): unknown {
  if (!(error instanceof Error) || (error as { errcode?: number }).errcode !== SCHEMA_CODE) return error
  return new StoreFault(`${path} cannot be opened: its schema is damaged (${error.message}): restore a backup`)
}

function storeOf(
  files: StoreFiles,
  database: DatabaseSync,
  ledger: ReturnType<typeof openLedger>,
  { access, now }: SqliteOptions,
): Store {
  const path = files.facts
  const log = logOf(database, path)
  return {
    frontier: frontierOf(database, log),
    schedule: scheduleOf(database, log, now),
    facts: factsOf(database),
    ledger,
    wishes: ledger,
    listing: listingOf(path, now),
    archive: archiveOf(database, files),
    jobs: jobsOf(database, log, now),
    similar: similarOf(database),
    indexing: indexingOf(database, log),
    now: async () => now(),
    probe: probeOf(database, ledger),
    async close() {
      try {
        await ledger.close()
        if (access === 'write') log.end()
      } finally {
        database.close()
      }
    },
  }
}

/** Throws StoreFault where the store is no whole one of one's own. */
export function openFacts(path: string, { access, demo = false }: Pick<OpenOptions, 'access' | 'demo'>): DatabaseSync {
  const mark = (database: DatabaseSync): void => {
    if (demo) database.exec(`insert or ignore into mark (name, value) values ('demo', 'yes')`)
  }
  const database = openFile(path, FACTS_SCHEMA, { access, onMade: mark })
  const words = (demo ? null : isMarked(database, 'demo') && DEMO) || (isMarked(database, 'copy') && UNFINISHED)
  if (!words) return database
  database.close()
  throw new StoreFault(`${path} holds ${words}`)
}

function isMarked(database: DatabaseSync, name: string): boolean {
  return database.prepare('select 1 from mark where name = ?').get(name) !== undefined
}

/** What `open` opens; where it throws, the connection is closed. */
function endedWith<Result>(database: DatabaseSync, open: () => Result): Result {
  try {
    return open()
  } catch (error) {
    database.close()
    throw error
  }
}
