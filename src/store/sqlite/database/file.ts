/** The files of a store: made where they are not there, refused where they are of another release. */

import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { DiskFault, StoreFault, userMessageOf } from '../../port/fault.ts'
import { toDiskFault } from '../../shared/disk.ts'
import { connectSqlite } from './connection.ts'
import { createEmptyFile, createFolder } from './folder.ts'
import { applySqliteMigrations, pendingSqliteMigrations } from './migrate.ts'

type OpenFileOptions = {
  access: 'read' | 'write'
  durable?: boolean
  /** Told of a file that got its schema just now. */
  onMade?: (database: DatabaseSync) => void
}

/** A connection to a file that has this release's schema. Throws StoreFault. */
export function openSqliteFile(
  path: string,
  schema: URL,
  { access, durable = false, onMade }: OpenFileOptions,
): DatabaseSync {
  try {
    if (!existsSync(path)) createFile(path)
    const database = connectSqlite(path, { durable })
    if (createSchemaIfEmpty(database, path, schema)) onMade?.(database)
    if (access === 'write') return database
    database.close()
    return connectSqlite(path, { readOnly: true })
  } catch (error) {
    const worded = toDiskFault(error, path)
    if (worded instanceof DiskFault) throw new DiskFault(`${path} cannot be opened: ${worded.cause}`, worded.errcode)
    if (worded instanceof StoreFault) throw worded
    throw new StoreFault(`${path} cannot be opened: ${userMessageOf(error) ?? (error as Error).message}`)
  }
}

function createFile(path: string): void {
  createFolder(dirname(path))
  createEmptyFile(path)
}

/**
 * Gives an empty file its schema, and the settings that only such a one takes; true then. Another process may do the same at
 * the same time, and a file that was left empty by one that died is made as any other.
 */
function createSchemaIfEmpty(database: DatabaseSync, path: string, schema: URL): boolean {
  const lacking = pendingSqliteMigrations(database, schema)
  if (lacking.length === 0) return false
  if (lacking[0]!.number !== 1) throw new StoreFault(`${path} is of an older release: run domaindex migrate`)
  database.exec('pragma page_size = 4096; pragma auto_vacuum = incremental; pragma journal_mode = wal')
  applySqliteMigrations(database, schema)
  return true
}
