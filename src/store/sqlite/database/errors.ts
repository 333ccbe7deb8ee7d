/**
 * Errors of SQLite by its result codes, https://sqlite.org/rescode.html: their messages for the user, and their causes.
 */

import { accessSync, constants, existsSync, statfsSync } from 'node:fs'
import { dirname } from 'node:path'
import { StoreFault } from '../../port/fault.ts'
import { accessDeniedMessage } from '../../shared/access.ts'
import { diskFullMessage, isDiskFull, NOT_WRITTEN_MESSAGE, nearestExisting } from '../../shared/disk.ts'

/** No space is left. */
const SQLITE_FULL = 13

/** A file could not be written. `errcode` is SQLite's result code. */
export class DiskFault extends StoreFault {
  readonly errcode: number
  /** The cause as text. */
  override readonly cause: string

  constructor(cause: string, errcode: number) {
    super(`${cause}; ${NOT_WRITTEN_MESSAGE}`, { isDiskFull: (errcode & 255) === SQLITE_FULL })
    this.cause = cause
    this.errcode = errcode
  }
}

/** An error in a form that can be sent through any channel. */
export type SerializedFault = { message: string; stack?: string | undefined; errcode?: number | undefined }

export function serializeFault(error: unknown): SerializedFault {
  const { message, stack, errcode } = error as Error & { errcode?: number }
  return { message, stack, errcode }
}

/** The error of `serializeFault` on the other side of the channel. */
export function faultOf({ message, stack, errcode }: SerializedFault): Error {
  return Object.assign(new Error(message), { stack, errcode })
}

/** By primary result code. */
const SQLITE_MESSAGES: Record<number, string> = {
  5: 'the store is locked by another process: try again when that process has ended',
  8: 'the store is read-only: check the permissions of its files and their folder',
  10: 'the disk failed to read or write the store',
  11: 'the store is damaged: restore a backup',
  [SQLITE_FULL]: `the disk is full; ${NOT_WRITTEN_MESSAGE}`,
  14: 'the store is a folder or not accessible: check its permissions and those of its folder',
  26: 'the file is not a database: set DOMAINDEX_STORE to another file',
}

/** The message for an error of SQLite that a user can fix; null for any other. */
export function sqliteMessageOf(error: unknown): string | null {
  const errcode = resultCodeOf(error)
  if (errcode === null) return null
  const { message } = error as Error
  return isDiskMessage(message) ? message : (SQLITE_MESSAGES[errcode & 255] ?? null)
}

/** True also for a DiskFault that crossed a channel as message and errcode. */
function isDiskMessage(message: string): boolean {
  return message.endsWith(NOT_WRITTEN_MESSAGE)
}

/** The result code of an error of SQLite; null for any other error. */
function resultCodeOf(error: unknown): number | null {
  return error instanceof Error ? ((error as { errcode?: number }).errcode ?? null) : null
}

/** Whether no space was left for the database or for a file of this process. */
export function isSqliteDiskFull(error: unknown): boolean {
  const errcode = resultCodeOf(error)
  return errcode === null ? isDiskFull(error) : (errcode & 255) === SQLITE_FULL
}

/** Result codes with several possible causes: read-only file, I/O error, full, cannot open. */
const DISK_RESULT_CODES = [8, 10, SQLITE_FULL, 14]

/** Whether the error is one of SQLite whose cause must be looked up at the disk or the file. */
export function isDiskError(error: unknown): error is Error & { errcode: number } {
  const errcode = resultCodeOf(error)
  return errcode !== null && DISK_RESULT_CODES.includes(errcode & 255) && !(error instanceof StoreFault)
}

/** Below this many free bytes, SQLite may fail: it needs a page of its log and one of its index. */
const MIN_FREE_BYTES = 64 * 1024

/**
 * Why files cannot be written: no space, a read-only file system, or no permission; null otherwise. SQLite reports all
 * of them, also for its -shm file, as "disk I/O error" or "unable to open".
 */
export function writeFailureCause(path: string): { message: string; isFull: boolean } | null {
  for (const file of [dirname(path), path, `${path}-wal`, `${path}-shm`]) {
    if (!existsSync(file)) continue
    try {
      accessSync(file, constants.W_OK)
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if (code === 'EROFS')
        return { message: `the file system of ${file} is read-only: mount it for writing`, isFull: false }
      if (code === 'EACCES' || code === 'EPERM') return { message: accessDeniedMessage(file), isFull: false }
    }
  }
  const { bavail, bsize } = statfsSync(nearestExisting(path))
  return bavail * bsize < MIN_FREE_BYTES ? { message: diskFullMessage(path), isFull: true } : null
}

/** Adds the cause to an error of SQLite; returns any other error unchanged. `path` is that of the database. */
export function toDiskFault(error: unknown, path: string): unknown {
  if (!isDiskError(error)) return error
  const cause = writeFailureCause(path)
  if (cause === null) return isSqliteDiskFull(error) ? new DiskFault(diskFullMessage(path), SQLITE_FULL) : error
  return new DiskFault(cause.message, cause.isFull ? SQLITE_FULL : error.errcode)
}

/**
 * Result codes of SQLite that do not concern the file: busy, locked, no memory, read-only, interrupted, full, cannot
 * open.
 */
const NOT_DAMAGE_CODES = [5, 6, 7, 8, 9, 13, 14]

/** Returns the message of an error that concerns the file, and throws any other. */
export function damageMessage(error: unknown): string {
  const { errcode, message } = error as { errcode?: number; message: string }
  if (errcode !== undefined && NOT_DAMAGE_CODES.includes(errcode & 255)) throw error
  return message
}
