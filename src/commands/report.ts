/** What went wrong in a command, told on standard error: a line for what the user can mend, the stack for anything else. */

import { SettingsFault } from '../config.ts'
import { StoreFault } from '../store/fault.ts'
import { CommandFault } from './fault.ts'

const FULL = 'the disk is full; what was not finished was not written'
/** By SQLite's primary result codes, https://sqlite.org/rescode.html. */
const SQLITE_WORDS: Record<number, string> = {
  5: 'another process keeps the store busy: try again when it has ended',
  8: 'the store may only be read: look at the permissions of its files and their folder',
  10: 'the disk failed to read or write the store',
  11: 'the store is damaged: restore a backup',
  13: FULL,
}

/** Prints the error; returns the exit code. */
export function report(error: unknown): number {
  const lines = plainWords(error)
  if (lines === null) console.error(error)
  else for (const line of lines.split('\n')) console.error(`domaindex: ${line}`)
  return 1
}

/** The words for an error that a user can mend; null for a fault of the program. */
function plainWords(error: unknown): string | null {
  if (error instanceof CommandFault || error instanceof SettingsFault || error instanceof StoreFault)
    return error.message
  if (!(error instanceof Error)) return null
  const { code, errcode, path } = error as NodeJS.ErrnoException & { errcode?: number }
  if (errcode !== undefined) return SQLITE_WORDS[errcode & 255] ?? null
  if (code === 'ENOSPC') return FULL
  if (code === 'EACCES' || code === 'EPERM') return `${path ?? error.message}: permission denied`
  if (code === 'EROFS') return `${path ?? error.message}: the file system is read-only`
  return null
}
