/**
 * Folders and files of a store. Only their owner can access them, because they hold secrets, accounts and crawled data.
 */

import { closeSync, existsSync, mkdirSync, openSync } from 'node:fs'
import { dirname } from 'node:path'

/**
 * Creates a folder and its missing parents; throws if one cannot be created. Node's own `recursive` never returns if
 * the file system reports that a folder exists, but that a folder inside it is missing (/proc).
 */
export function createFolder(path: string): void {
  if (existsSync(path)) return
  createFolder(dirname(path))
  try {
    mkdirSync(path, { mode: 0o700 })
  } catch (error) {
    if (!existsSync(path)) throw error // another process has created it
  }
}

/** The permissions of all files of a store. */
export const OWNER_ONLY_MODE = 0o600

/**
 * Creates an empty file. SQLite would create it readable by all; it gives the log files the permissions of this file.
 * An existing file stays unchanged, with its permissions.
 */
export function createEmptyFile(path: string): void {
  closeSync(openSync(path, 'a', OWNER_ONLY_MODE))
}
