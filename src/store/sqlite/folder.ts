/** Folders for the files of a store. */

import { existsSync, mkdirSync } from 'node:fs'
import { dirname } from 'node:path'

/**
 * Makes a folder and those above it that are not there; throws where one cannot be made. Node's own `recursive` never
 * returns where a file system says that a folder is there and refuses one inside it as missing (/proc).
 */
export function makeFolder(path: string, mode = 0o777): void {
  if (existsSync(path)) return
  makeFolder(dirname(path), mode)
  try {
    mkdirSync(path, { mode })
  } catch (error) {
    if (!existsSync(path)) throw error // another process was faster
  }
}
