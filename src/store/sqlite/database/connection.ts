/** Connections to a SQLite file: the settings every one of them has, and the one way to write. */

import { statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { toDiskFault } from '../../shared/disk.ts'

/** How long a statement waits for another process's write, in milliseconds. */
const BUSY_MILLISECONDS = 20_000
/** Pages in the log before the writer writes them back: 256 MiB, in which a page that many names share is written back once. */
const WAL_CHECKPOINT_PAGES = 65_536

/** The most that SQLite maps. */
const MAX_MAPPED_BYTES = 2_147_418_112
/** A file that may grow to so many times its size and still fit in memory is mapped. */
const MAPPED_GROWTH_FACTOR = 4

/** Opens a file that is there. `durable`: a commit survives a loss of power; without it, the end of the process. */
export function connectSqlite(path: string, options: { readOnly?: boolean; durable?: boolean } = {}): DatabaseSync {
  const readOnly = options.readOnly ?? false
  const database = new DatabaseSync(path, { readOnly, timeout: BUSY_MILLISECONDS, enableForeignKeyConstraints: false })
  database.exec('pragma cache_size = -65536; pragma temp_store = memory')
  if (readOnly) database.exec(`pragma mmap_size = ${fitsInMemory(path) ? MAX_MAPPED_BYTES : 0}`)
  else {
    database.exec(`pragma synchronous = ${options.durable ? 'full' : 'normal'}`)
    database.exec(
      `pragma wal_autocheckpoint = ${WAL_CHECKPOINT_PAGES}; pragma journal_size_limit = ${WAL_CHECKPOINT_PAGES * 4096}`,
    )
  }
  return database
}

/**
 * Mapped pages are found faster (4 of 17 µs of a look-up). But of a file that does not fit in memory, a page that is missing
 * brings its neighbourhood along and drives others out: 13 ms a look-up instead of 0.02.
 */
function fitsInMemory(path: string): boolean {
  return MAPPED_GROWTH_FACTOR * statSync(path).size < process.availableMemory()
}

/** Runs `work` in one write transaction; whatever it throws, nothing of it is written. */
export function writeTransaction<Result>(database: DatabaseSync, work: () => Result): Result {
  try {
    database.exec('begin immediate')
    const result = work()
    database.exec('commit')
    return result
  } catch (error) {
    if (database.isTransaction) database.exec('rollback')
    throw toDiskFault(error, database.location() ?? '')
  }
}

/** Runs `work` in one read transaction, so that its statements see one moment. */
export function readTransaction<Result>(database: DatabaseSync, work: () => Result): Result {
  database.exec('begin')
  try {
    return work()
  } finally {
    database.exec('commit')
  }
}

/** Bytes of the write-ahead log beside a file. */
export function walBytes(path: string): number {
  return statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0
}
