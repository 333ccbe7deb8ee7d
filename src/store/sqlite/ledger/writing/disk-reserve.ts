/**
 * Disk space reserved for the ledger: a file of random bytes beside it. The ledger frees it when no other space is
 * left, so that calls are still counted and answered on a full disk.
 */

import { randomFillSync } from 'node:crypto'
import { existsSync, renameSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { isSqliteDiskFull } from '../../database/errors.ts'
import { OWNER_ONLY_MODE } from '../../database/folder.ts'

/** Maximum share of the disk, and maximum and minimum bytes. A smaller reserve is not worth a file. */
const RESERVE_DISK_SHARE = 1 / 16
const MAX_RESERVE_BYTES = 2 ** 23
const MIN_RESERVE_BYTES = 2 ** 16
/** The reserve is created if this multiple of its size is free. */
const RESERVE_FREE_FACTOR = 3
/** Pages of the log at which it is checkpointed and restarted after the disk was full: it must not grow then. */
const FULL_DISK_CHECKPOINT_PAGES = 64

export function reservePath(ledger: string): string {
  return `${ledger}-reserve`
}

/** Creates the reserve if there is none and enough space is free. Ignores errors, because it is tried again. */
export function createReserve(ledger: string): void {
  const path = reservePath(ledger)
  if (existsSync(path)) return
  const unfinished = `${path}.${process.pid}`
  try {
    const { bavail, blocks, bsize } = statfsSync(dirname(ledger))
    const size = Math.floor(Math.min(MAX_RESERVE_BYTES, RESERVE_DISK_SHARE * blocks * bsize))
    if (size < MIN_RESERVE_BYTES || bavail * bsize < RESERVE_FREE_FACTOR * size) return
    writeFileSync(unfinished, randomFillSync(new Uint8Array(size)), { mode: OWNER_ONLY_MODE })
    renameSync(unfinished, path)
  } catch {
    rmSync(unfinished, { force: true })
  }
}

/** Frees the reserve. Returns false if there was none. */
function releaseReserve(ledger: string): boolean {
  const path = reservePath(ledger)
  const existed = existsSync(path)
  rmSync(path, { force: true })
  return existed
}

/** Runs work that needs a little disk space. If no other space is left, frees the reserve and retries. */
export function withReserve<Result>(ledger: string, work: () => Result): Result {
  try {
    return work()
  } catch (error) {
    if (!isSqliteDiskFull(error) || !releaseReserve(ledger)) throw error
    return work()
  }
}

/**
 * Writes to the ledger. On a full disk, first checkpoints the log so that its space can be reused, then frees the
 * reserve. Throws the error of the last attempt.
 */
export function writeWithReserve<Result>(database: DatabaseSync, ledger: string, write: () => Result): Result {
  const retry = (): Result => {
    checkpointPassively(database)
    return write()
  }
  try {
    return write()
  } catch (error) {
    if (!isSqliteDiskFull(error)) throw error
  }
  try {
    return retry()
  } catch (error) {
    if (!isSqliteDiskFull(error) || !releaseReserve(ledger)) throw error
    return retry()
  }
}

/** Does not wait: if a reader holds the log, the write fails for lack of space. */
function checkpointPassively(database: DatabaseSync): void {
  try {
    database.exec(`pragma wal_autocheckpoint = ${FULL_DISK_CHECKPOINT_PAGES}; pragma wal_checkpoint(passive)`)
  } catch {
    // no space for that either: the write reports it
  }
}
