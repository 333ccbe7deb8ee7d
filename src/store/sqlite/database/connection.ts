/** Connections to a SQLite file: their settings, and transactions. */

import { accessSync, constants, statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { pathExists } from '../../shared/access.ts'
import { toDiskFault } from './errors.ts'

/** Milliseconds that a statement waits for a write of another process. */
const BUSY_MILLISECONDS = 20_000
/**
 * Pages in the log at which the writer checkpoints: 256 MiB, within which a page shared by many names is written back
 * once.
 */
const WAL_CHECKPOINT_PAGES = 65_536

/** The maximum that SQLite maps. */
const MAX_MAPPED_BYTES = 2_147_418_112
/** A file is mapped if it could grow by this factor and still fit in memory. */
const MAPPED_GROWTH_FACTOR = 4
/** The page cache of a writer. With twice as much, an import takes 30 MB more memory and at most 3 % less time. */
const WRITER_CACHE_BYTES = 2 ** 25
/** Bounds of the page cache of a reader, and the share of the available memory between them. */
const MIN_CACHE_BYTES = 2 ** 26
const MAX_CACHE_BYTES = 2 ** 28
const CACHE_SHARE_OF_MEMORY = 1 / 8

/**
 * `durable`: a commit survives a loss of power, not only the end of the process. `readsAtRandom`: a reader of single
 * rows, which gains from a larger page cache.
 */
type ConnectionOptions = { readOnly?: boolean; durable?: boolean; readsAtRandom?: boolean }

/** Opens an existing file. */
export function connectSqlite(path: string, options: ConnectionOptions = {}): DatabaseSync {
  const readOnly = options.readOnly ?? false
  const database = openDatabase(path, readOnly)
  const isMapped = readOnly && fitsInMemory(path)
  const isLarge = options.readsAtRandom === true && !isMapped
  const readerBytes = isLarge ? readerCacheBytes(process.availableMemory()) : MIN_CACHE_BYTES
  const cacheBytes = readOnly ? readerBytes : WRITER_CACHE_BYTES
  database.exec(`pragma cache_size = -${Math.floor(cacheBytes / 1024)}; pragma temp_store = memory`)
  if (readOnly) database.exec(`pragma mmap_size = ${isMapped ? MAX_MAPPED_BYTES : 0}`)
  else {
    database.exec(`pragma synchronous = ${options.durable ? 'full' : 'normal'}`)
    database.exec(
      `pragma wal_autocheckpoint = ${WAL_CHECKPOINT_PAGES}; pragma journal_size_limit = ${WAL_CHECKPOINT_PAGES * 4096}`,
    )
  }
  return database
}

/** Throws the error of the file system if this process may not read the file: SQLite's own names neither. */
function openDatabase(path: string, readOnly: boolean): DatabaseSync {
  try {
    return new DatabaseSync(path, { readOnly, timeout: BUSY_MILLISECONDS, enableForeignKeyConstraints: false })
  } catch (error) {
    if (pathExists(path)) accessSync(path, constants.R_OK)
    throw error
  }
}

/**
 * Mapped pages are found faster: 4 µs less of the 17 µs of a look-up. If a file does not fit in memory, a missing page
 * loads its neighbours and evicts other pages: 13 ms per look-up instead of 0.02.
 */
function fitsInMemory(path: string): boolean {
  return MAPPED_GROWTH_FACTOR * statSync(path).size < process.availableMemory()
}

/**
 * The page cache of a reader of single rows whose file is not mapped. With 256 MB instead of 64, a look-up of one of
 * 10,000 names of 4 million takes 8 µs instead of 12. `available`: bytes that the process may use, within its cgroup.
 */
export function readerCacheBytes(available: number): number {
  return Math.min(Math.max(available * CACHE_SHARE_OF_MEMORY, MIN_CACHE_BYTES), MAX_CACHE_BYTES)
}

/** Runs `work` in one write transaction. If it throws, nothing is written. */
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

/** Runs `work` in one read transaction, that of this iteration if it is open, so that its statements read one snapshot. */
export function readTransaction<Result>(database: DatabaseSync, work: () => Result): Result {
  if (database.isTransaction) return work()
  database.exec('begin')
  try {
    return work()
  } finally {
    database.exec('commit')
  }
}

/** Bytes of the write-ahead log of a file. */
export function walBytes(path: string): number {
  return statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0
}
