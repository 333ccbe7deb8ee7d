/** What is wrong with a store, in words for the person who runs it. */

/** Names the thing and says what to do; shown without a stack. */
export class StoreFault extends Error {}

/** The store does not answer, or lets nobody in for now: later it may. */
export class AwayFault extends StoreFault {}

/** It cannot be found out whether what was to be written was written. */
export class DoubtFault extends StoreFault {}

const FULL = 'the disk is full; what was not finished was not written'
/** By SQLite's primary result codes, https://sqlite.org/rescode.html. */
const SQLITE_WORDS: Record<number, string> = {
  5: 'another process keeps the store busy: try again when it has ended',
  8: 'the store may only be read: look at the permissions of its files and their folder',
  10: 'the disk failed to read or write the store',
  11: 'the store is damaged: restore a backup',
  13: FULL,
  14: 'it is a folder, or closed to this user: look at its permissions and those of its folder',
  26: 'name another file with DOMAINDEX_STORE, this one is not a database',
}

/** The words for an error of SQLite or of the system that a user can mend; null for any other. */
export function plainWords(error: unknown): string | null {
  if (!(error instanceof Error)) return null
  const { code, errcode, path } = error as NodeJS.ErrnoException & { errcode?: number }
  if (errcode !== undefined) return SQLITE_WORDS[errcode & 255] ?? null
  if (code === 'ENOSPC') return FULL
  if (code === 'EACCES' || code === 'EPERM') return `${path ?? error.message}: permission denied`
  if (code === 'EROFS') return `${path ?? error.message}: the file system is read-only`
  return null
}
