/**
 * Disk space that is kept for the ledger: a file of random bytes beside it, which goes when no other space is left, so that
 * calls are still counted, and answered, on a disk that something else has filled.
 */

import { randomFillSync } from 'node:crypto'
import { existsSync, renameSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { isDiskFull } from '../../../port/fault.ts'
import { OWNER_ONLY_MODE } from '../../database/folder.ts'

/** Of the disk, and in bytes: at most. Less than the least is not worth a file. */
const RESERVE_DISK_SHARE = 1 / 16
const MAX_RESERVE_BYTES = 2 ** 23
const MIN_RESERVE_BYTES = 2 ** 16
/** It is made where so many times its size is free. */
const RESERVE_FREE_FACTOR = 3
/** Pages of the log after which it is written back and begun anew once the disk was full: it must not grow then. */
const FULL_DISK_CHECKPOINT_PAGES = 64

export function reservePath(ledger: string): string {
  return `${ledger}-reserve`
}

/** Makes the reserve if there is none and room is ample; what goes wrong is no matter, since it is tried again. */
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

/** Frees the reserve; false where there was none. */
function releaseReserve(ledger: string): boolean {
  const path = reservePath(ledger)
  const isThere = existsSync(path)
  rmSync(path, { force: true })
  return isThere
}

/** Does something that needs a little space on the disk of the ledger; frees the reserve for it if no other space is left. */
export function withReserve<Result>(ledger: string, work: () => Result): Result {
  try {
    return work()
  } catch (error) {
    if (!isDiskFull(error) || !releaseReserve(ledger)) throw error
    return work()
  }
}

/**
 * Writes to the ledger. On a full disk the log is written back first, so that the space that it has serves again; then the
 * reserve is freed. Throws what the last attempt throws.
 */
export function writeWithReserve<Result>(database: DatabaseSync, ledger: string, write: () => Result): Result {
  const again = (): Result => {
    checkpointPassively(database)
    return write()
  }
  try {
    return write()
  } catch (error) {
    if (!isDiskFull(error)) throw error
  }
  try {
    return again()
  } catch (error) {
    if (!isDiskFull(error) || !releaseReserve(ledger)) throw error
    return again()
  }
}

/** Waits for nobody: where a reader holds the log, the write says that there is no space. */
function checkpointPassively(database: DatabaseSync): void {
  try {
    database.exec(`pragma wal_autocheckpoint = ${FULL_DISK_CHECKPOINT_PAGES}; pragma wal_checkpoint(passive)`)
  } catch {
    // there is no space for that either: the write says so
  }
}
