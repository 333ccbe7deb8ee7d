/** Errors of a store, with messages for the person who runs it. */

/** Names the thing and says what to do. Shown without a stack trace. */
export class StoreFault extends Error {}

/** The store does not respond or refuses connections. It may recover. */
export class StoreUnavailableFault extends StoreFault {}

/** It is unknown whether the write succeeded. */
export class UncertainWriteFault extends StoreFault {}

/** The result code of SQLite if no space is left. */
export const SQLITE_FULL = 13
const NOT_WRITTEN_MESSAGE = 'what was not finished was not written'

/** A file could not be written. `errcode` is SQLite's result code: 13 if no space is left. */
export class DiskFault extends StoreFault {
  readonly errcode: number
  /** The cause as text. */
  override readonly cause: string

  constructor(cause: string, errcode: number) {
    super(`${cause}; ${NOT_WRITTEN_MESSAGE}`)
    this.cause = cause
    this.errcode = errcode
  }

  static full(path: string): DiskFault {
    return new DiskFault(`no space is left on the disk of ${path}`, SQLITE_FULL)
  }
}

/** By SQLite's primary result code, https://sqlite.org/rescode.html. */
const SQLITE_MESSAGES: Record<number, string> = {
  5: 'the store is locked by another process: try again when that process has ended',
  8: 'the store is read-only: check the permissions of its files and their folder',
  10: 'the disk failed to read or write the store',
  11: 'the store is damaged: restore a backup',
  [SQLITE_FULL]: `the disk is full; ${NOT_WRITTEN_MESSAGE}`,
  14: 'the store is a folder or not accessible: check its permissions and those of its folder',
  26: 'the file is not a database: set DOMAINDEX_STORE to another file',
}

/** The message for an error of SQLite or of the system that a user can fix; null for any other. */
export function userMessageOf(error: unknown): string | null {
  if (!(error instanceof Error)) return null
  const { code, errcode, path } = error as NodeJS.ErrnoException & { errcode?: number }
  if (errcode !== undefined) return isDiskMessage(error) ? error.message : (SQLITE_MESSAGES[errcode & 255] ?? null)
  if (code === 'ENOSPC') return path === undefined ? SQLITE_MESSAGES[SQLITE_FULL]! : DiskFault.full(path).message
  if (code === 'EACCES' || code === 'EPERM') return `${path ?? error.message}: permission denied`
  if (code === 'EROFS') return `${path ?? error.message}: the file system is read-only`
  return null
}

/** True also for a DiskFault that crossed a channel as message and errcode. */
function isDiskMessage({ message }: Error): boolean {
  return message.endsWith(NOT_WRITTEN_MESSAGE)
}

/** Whether no space was left, for a file of this process or of the database server. */
export function isDiskFull(error: unknown): boolean {
  const { code, errcode, cause } = error as NodeJS.ErrnoException & { errcode?: number }
  if (errcode !== undefined) return (errcode & 255) === SQLITE_FULL
  return code === 'ENOSPC' || code === '53100' || (cause instanceof Error && isDiskFull(cause))
}

/** Result codes of SQLite with several possible causes: read-only file, I/O error, full, cannot open. */
const DISK_RESULT_CODES = [8, 10, SQLITE_FULL, 14]

/** Whether the error is one of SQLite whose cause must be looked up at the disk or the file. */
export function isDiskError(error: unknown): error is Error & { errcode: number } {
  const { errcode } = error as { errcode?: number }
  return errcode !== undefined && DISK_RESULT_CODES.includes(errcode & 255) && !(error instanceof StoreFault)
}
