/** Folders and files of a store: their owner's alone, since they hold secrets, accounts and what was crawled. */

import { closeSync, existsSync, mkdirSync, openSync } from 'node:fs'
import { dirname } from 'node:path'

/**
 * Makes a folder and those above it that are not there; throws where one cannot be made. Node's own `recursive` never
 * returns where a file system says that a folder is there and refuses one inside it as missing (/proc).
 */
export function createFolder(path: string): void {
  if (existsSync(path)) return
  createFolder(dirname(path))
  try {
    mkdirSync(path, { mode: 0o700 })
  } catch (error) {
    if (!existsSync(path)) throw error // another process was faster
  }
}

/** The permissions of every file of a store. */
export const OWNER_ONLY_MODE = 0o600

/**
 * Makes an empty file for SQLite, whose own would be readable by all; SQLite gives the files of its log the same permissions.
 * A file that is there stays as it is, with its permissions.
 */
export function createEmptyFile(path: string): void {
  closeSync(openSync(path, 'a', OWNER_ONLY_MODE))
}
