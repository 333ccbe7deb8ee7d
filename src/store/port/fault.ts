/** What is wrong with a store, in words for the person who runs it. */

/** Names the thing and says what to do; shown without a stack. */
export class StoreFault extends Error {}

/** The store does not answer, or lets nobody in for now: later it may. */
export class StoreUnavailableFault extends StoreFault {}

/** It cannot be found out whether what was to be written was written. */
export class UncertainWriteFault extends StoreFault {}

const SQLITE_FULL = 13
const NOT_WRITTEN_MESSAGE = 'what was not finished was not written'

/** A file could not be written. `errcode` is SQLite's: 13 where no space is left. */
export class DiskFault extends StoreFault {
  readonly errcode: number
  /** In words. */
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

/** By SQLite's primary result codes, https://sqlite.org/rescode.html. */
const SQLITE_MESSAGES: Record<number, string> = {
  5: 'another process keeps the store busy: try again when it has ended',
  8: 'the store may only be read: look at the permissions of its files and their folder',
  10: 'the disk failed to read or write the store',
  11: 'the store is damaged: restore a backup',
  [SQLITE_FULL]: `the disk is full; ${NOT_WRITTEN_MESSAGE}`,
  14: 'it is a folder, or closed to this user: look at its permissions and those of its folder',
  26: 'name another file with DOMAINDEX_STORE, this one is not a database',
}

/** The words for an error of SQLite or of the system that a user can mend; null for any other. */
export function userMessageOf(error: unknown): string | null {
  if (!(error instanceof Error)) return null
  const { code, errcode, path } = error as NodeJS.ErrnoException & { errcode?: number }
  if (errcode !== undefined) return isDiskMessage(error) ? error.message : (SQLITE_MESSAGES[errcode & 255] ?? null)
  if (code === 'ENOSPC') return path === undefined ? SQLITE_MESSAGES[SQLITE_FULL]! : DiskFault.full(path).message
  if (code === 'EACCES' || code === 'EPERM') return `${path ?? error.message}: permission denied`
  if (code === 'EROFS') return `${path ?? error.message}: the file system is read-only`
  return null
}

/** Also of a DiskFault that passed through a channel as its message and errcode. */
function isDiskMessage({ message }: Error): boolean {
  return message.endsWith(NOT_WRITTEN_MESSAGE)
}

/** True where no space was left, for a file of ours or the database server's. */
export function isDiskFull(error: unknown): boolean {
  const { code, errcode, cause } = error as NodeJS.ErrnoException & { errcode?: number }
  if (errcode !== undefined) return (errcode & 255) === SQLITE_FULL
  return code === 'ENOSPC' || code === '53100' || (cause instanceof Error && isDiskFull(cause))
}

/** Result codes of SQLite that several causes have: a file that may only be read, I/O, full, a file that cannot be opened. */
const DISK_RESULT_CODES = [8, 10, SQLITE_FULL, 14]

/** True for an error of SQLite whose cause lies with the disk or the file, and is to be looked for there. */
export function isDiskError(error: unknown): error is Error & { errcode: number } {
  const { errcode } = error as { errcode?: number }
  return errcode !== undefined && DISK_RESULT_CODES.includes(errcode & 255) && !(error instanceof StoreFault)
}
