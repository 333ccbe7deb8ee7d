/** Opens a store of two SQLite files: the facts and the ledger. */

import type { DatabaseSync } from 'node:sqlite'
import type { Day } from '../../values/time.ts'
import type { OpenStoreOptions } from '../port/engine.ts'
import { StoreFault } from '../port/fault.ts'
import type { Ledger } from '../port/ledger.ts'
import type { Store } from '../port/store.ts'
import { openSqliteFile } from './database/file.ts'
import { SQLITE_FACTS_SCHEMA } from './database/migrate.ts'
import { iterationReads } from './database/read-iteration.ts'
import { writeAheadLogOf } from './database/write-ahead-log.ts'
import { sqliteEventRemover, sqliteEvents } from './facts/events.ts'
import { sqliteFacts } from './facts/facts.ts'
import { sqliteObservations } from './facts/observations.ts'
import { openLongPages } from './facts/pages/long-pages.ts'
import { sqlitePruning } from './facts/pruning.ts'
import { sqliteInverse } from './inverse/inverse.ts'
import { sqliteInverseIndex } from './inverse/maintenance.ts'
import { openSqliteLedger } from './ledger/ledger.ts'
import { openLedgerAt } from './ledger/ledger-location.ts'
import { withReserve } from './ledger/writing/disk-reserve.ts'
import type { ProbedLedger } from './ledger/writing/write-probe.ts'
import { sqliteListing } from './listing/listing.ts'
import type { StoreFiles } from './locations.ts'
import { sqliteMaintenance } from './maintenance/maintenance.ts'
import { sqliteCertificateLogs, sqliteJobs } from './schedule/jobs.ts'
import { sqliteSchedule } from './schedule/schedule.ts'
import { sqliteIndexer } from './similar/indexer.ts'
import { sqliteSimilar } from './similar/similar.ts'

const NO_ACCOUNT = 0
const NO_DAY = '' as Day

const DEMO_STORE_MESSAGE = 'the generated data of a demo: set DOMAINDEX_STORE to another store'
const UNFINISHED_COPY_MESSAGE = 'an unfinished copy of another store: run domaindex copy again to resume it'

type OpenSqliteOptions = OpenStoreOptions & Required<Pick<OpenStoreOptions, 'now' | 'demo'>>

export async function openSqlite(files: StoreFiles, options: OpenSqliteOptions): Promise<Store> {
  const path = files.facts
  const database = withReserve(files.ledger, () => openFacts(path, options))
  const { ledger: mode, secret, now } = options
  const ledger = closeOnError(database, () =>
    openLedgerAt(database, files, (path) => {
      try {
        return openSqliteLedger(path, { ledger: mode, secret, now })
      } catch (error) {
        throw describeSchemaError(path, error)
      }
    }),
  )
  try {
    return createSqliteStore(files, database, ledger, options)
  } catch (error) {
    await ledger.close().finally(() => database.close())
    throw describeSchemaError(path, error)
  }
}

/** SQLite's result code for a statement that does not match the schema. */
const SQLITE_ERROR = 1

function describeSchemaError(path: string, error: unknown): unknown {
  if (!(error instanceof Error) || (error as { errcode?: number }).errcode !== SQLITE_ERROR) return error
  return new StoreFault(`${path} cannot be opened: its schema is damaged (${error.message}): restore a backup`)
}

function createSqliteStore(
  files: StoreFiles,
  database: DatabaseSync,
  ledger: ReturnType<typeof openSqliteLedger>,
  { access, now }: OpenSqliteOptions,
): Store {
  const path = files.facts
  const log = writeAheadLogOf(database, path)
  const longPages = openLongPages(path)
  const beginRead = access === 'read' ? iterationReads(database) : () => {}
  return {
    observations: sqliteObservations(database, log, { readWatches: ledger.readWatches, now }),
    schedule: sqliteSchedule(database, log, now),
    facts: sqliteFacts(database, beginRead, longPages),
    events: sqliteEvents(database, beginRead, now),
    eventRemover: sqliteEventRemover(database, log),
    inverse: sqliteInverse(database, beginRead),
    inverseIndex: sqliteInverseIndex(database, log),
    ledger,
    crawlRequests: ledger,
    listing: sqliteListing(path, now),
    maintenance: sqliteMaintenance(database, files),
    pruning: sqlitePruning(database, log),
    jobs: sqliteJobs(database, log, now),
    certificateLogs: sqliteCertificateLogs(database, log, now),
    similar: sqliteSimilar(database),
    similarIndex: sqliteIndexer(database, log),
    now: async () => now(),
    probe: sqliteProbe(database, ledger),
    async close() {
      try {
        await longPages.close()
        await ledger.close()
        if (access === 'write') log.checkpoint()
      } finally {
        database.close()
      }
    },
  }
}

/** Throws StoreFault if the store is a demo store or an unfinished copy. */
export function openFacts(
  path: string,
  { access, demo = false }: Pick<OpenStoreOptions, 'access' | 'demo'>,
): DatabaseSync {
  const markDemo = (database: DatabaseSync): void => {
    if (demo) database.exec(`insert or ignore into metadata (name, value) values ('demo', 'yes')`)
  }
  const database = openSqliteFile(path, SQLITE_FACTS_SCHEMA, { access, onCreated: markDemo })
  const reason =
    (demo ? null : isMarked(database, 'demo') && DEMO_STORE_MESSAGE) ||
    (isMarked(database, 'copy') && UNFINISHED_COPY_MESSAGE)
  if (!reason) return database
  database.close()
  throw new StoreFault(`${path} holds ${reason}`)
}

function isMarked(database: DatabaseSync, name: string): boolean {
  return database.prepare('select 1 from metadata where name = ?').get(name) !== undefined
}

/** Returns the result of `open`. If it throws, closes the connection. */
function closeOnError<Result>(database: DatabaseSync, open: () => Result): Result {
  try {
    return open()
  } catch (error) {
    database.close()
    throw error
  }
}

/**
 * Throws if calls would fail. A refund to a nonexistent account opens the ledger for writing, but writes nothing unless
 * a fault is suspected.
 */
function sqliteProbe(
  database: DatabaseSync,
  ledger: Pick<Ledger, 'usedUnits' | 'refundUnit'> & ProbedLedger,
): () => Promise<void> {
  const facts = database.prepare('select 1 from crawl_state v join facts f on f.id = v.id limit 1')
  return async () => {
    facts.get()
    await ledger.usedUnits(NO_ACCOUNT, NO_DAY)
    await ledger.refundUnit(NO_ACCOUNT, NO_DAY)
    await ledger.requireWritable()
  }
}
