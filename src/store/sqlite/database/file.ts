/** Opens the files of a store: creates missing ones and rejects those of another release. */

import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { StoreFault } from '../../port/fault.ts'
import { fileMessageOf } from '../../shared/disk.ts'
import { connectSqlite } from './connection.ts'
import { DiskFault, sqliteMessageOf, toDiskFault } from './errors.ts'
import { createEmptyFile, createFolder } from './folder.ts'
import { createSqliteSchema, isEmptySqliteFile, pendingSqliteMigrations } from './migrate.ts'

type OpenFileOptions = {
  access: 'read' | 'write'
  durable?: boolean
  /** Called in the transaction that creates the schema of a file. */
  onCreated?: (database: DatabaseSync) => void
}

/** Opens a file with this release's schema. Throws StoreFault. */
export function openSqliteFile(
  path: string,
  schema: URL,
  { access, durable = false, onCreated = () => {} }: OpenFileOptions,
): DatabaseSync {
  try {
    if (!existsSync(path)) createFile(path)
    const database = connectSqlite(path, { durable })
    if (isEmptySqliteFile(database)) createSchema(database, schema, onCreated)
    else requireCurrentSchema(database, path, schema)
    if (access === 'write') return database
    database.close()
    return connectSqlite(path, { readOnly: true, readsAtRandom: true })
  } catch (error) {
    const fault = toDiskFault(error, path)
    if (fault instanceof DiskFault) throw new DiskFault(`${path} cannot be opened: ${fault.cause}`, fault.errcode)
    if (fault instanceof StoreFault) throw fault
    throw new StoreFault(
      `${path} cannot be opened: ${sqliteMessageOf(error) ?? fileMessageOf(error) ?? (error as Error).message}`,
    )
  }
}

function createFile(path: string): void {
  createFolder(dirname(path))
  createEmptyFile(path)
}

/**
 * Gives an empty file its schema and the settings that only an empty file accepts. Another process may do the same
 * concurrently. If the process is killed, the file stays empty, and the next command creates the schema.
 */
function createSchema(database: DatabaseSync, schema: URL, onCreated: (database: DatabaseSync) => void): void {
  database.exec('pragma page_size = 4096; pragma auto_vacuum = incremental; pragma journal_mode = wal')
  createSqliteSchema(database, schema, () => onCreated(database))
}

function requireCurrentSchema(database: DatabaseSync, path: string, schema: URL): void {
  if (pendingSqliteMigrations(database, schema).length > 0)
    throw new StoreFault(`${path} is of an older release: run domaindex migrate`)
}
