/** Opens the file to import before anything else is opened. */

import { fstatSync, openSync, type Stats } from 'node:fs'
import { CommandFault } from '../config/command-fault.ts'
import { errorCause } from './stream/input-error.ts'

export type ImportSource = { fd: number; path: string; stats: Stats }

/** `-` is standard input. Throws CommandFault if the file cannot be read. */
export function openImportSource(path: string): ImportSource {
  try {
    const fd = path === '-' ? 0 : openSync(path, 'r')
    const stats = fstatSync(fd)
    if (stats.isDirectory()) throw new Error('it is a folder')
    return { fd, path, stats }
  } catch (error) {
    throw new CommandFault(`${path} cannot be read: ${errorCause(error)}`)
  }
}
