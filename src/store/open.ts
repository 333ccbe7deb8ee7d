/** Opens, copies and migrates a store by its URL. Only this file knows which engines exist. */

import { existsSync } from 'node:fs'
import type { BulkStore } from './port/bulk.ts'
import { StoreFault } from './port/fault.ts'
import type { OpenStoreOptions } from './port/open-options.ts'
import type { Store } from './port/store.ts'
import { isPostgres, maskedText, redactedStoreUrl, type StoreLocation, storeUrlOf } from './port/url.ts'
import type { OnProgress } from './sqlite/backup/backup.ts'
import { type StoreFiles, sqliteFilesOf } from './sqlite/database/file-paths.ts'
import { openSqlite } from './sqlite/open.ts'

const POSTGRES_BACKUP_MESSAGE =
  'PostgreSQL is backed up and restored by its own tools: pg_dump --format=directory and pg_restore --exit-on-error, as docs/postgresql.md says'

/** Throws StoreFault, which says what to do, if the store cannot be opened. */
export async function openStore(location: StoreLocation, options: OpenStoreOptions): Promise<Store> {
  if (isPostgres(location)) return (await import('./postgres/open.ts')).openPostgres(storeUrlOf(location), options)
  const { now = () => Math.floor(Date.now() / 1000), demo = false } = options
  return openSqlite(requireSqliteFiles(location), { ...options, now, demo })
}

/** Whether a store, even an unfinished one, exists. Throws StoreFault if this cannot be determined. */
export async function storeExists(location: StoreLocation): Promise<boolean> {
  if (isPostgres(location)) return (await import('./postgres/upgrade.ts')).postgresStoreExists(storeUrlOf(location))
  return existsSync(requireSqliteFiles(location).facts)
}

/**
 * Copies a store that is in use to the new folder `to`. Aborting `signal` stops it and leaves nothing behind. Throws
 * StoreFault.
 */
export async function backupStore(
  location: StoreLocation,
  to: string,
  onProgress: OnProgress,
  signal: AbortSignal,
): Promise<void> {
  if (isPostgres(location)) throw new StoreFault(`${redactedStoreUrl(location)}: ${POSTGRES_BACKUP_MESSAGE}`)
  const { backupSqlite } = await import('./sqlite/backup/backup.ts')
  await backupSqlite(requireSqliteFiles(location), to, onProgress, signal)
}

/** Restores the backup in the folder `from` to a location without a store. Throws StoreFault. */
export async function restoreStore(from: string, location: StoreLocation, onProgress: OnProgress): Promise<void> {
  if (isPostgres(location)) throw new StoreFault(`${redactedStoreUrl(location)}: ${POSTGRES_BACKUP_MESSAGE}`)
  const { restoreSqlite } = await import('./sqlite/backup/restore.ts')
  await restoreSqlite(from, requireSqliteFiles(location), onProgress)
}

/**
 * Migrates a store to this release. With `plan` it changes nothing. `report` receives what the migration waits for.
 * Returns the names of the migrations. Throws StoreFault.
 */
export async function migrateStore(
  location: StoreLocation,
  plan: boolean,
  report: (message: string) => void = () => {},
): Promise<string[]> {
  if (isPostgres(location))
    return (await import('./postgres/upgrade.ts')).migratePostgresStore(storeUrlOf(location), plan, report)
  const { migrateSqliteStore: migrateSqlite } = await import('./sqlite/upgrade.ts')
  return migrateSqlite(requireSqliteFiles(location), plan)
}

/** Opens a whole store for a copy. With `write`, it creates the store if there is none. Throws StoreFault. */
export async function openBulkStore(location: StoreLocation, access: 'read' | 'write'): Promise<BulkStore> {
  if (isPostgres(location))
    return (await import('./postgres/maintenance/bulk.ts')).openBulkPostgres(storeUrlOf(location), access)
  return (await import('./sqlite/maintenance/bulk.ts')).openBulkSqlite(requireSqliteFiles(location), access)
}

/** The files of a SQLite store. Throws StoreFault if the URL is not one of SQLite. */
function requireSqliteFiles(location: StoreLocation): StoreFiles {
  const url = storeUrlOf(location)
  if (!url.startsWith('sqlite:') || url.length === 'sqlite:'.length) {
    throw new StoreFault(
      `DOMAINDEX_STORE is ${JSON.stringify(maskedText(url))}: write sqlite: and the path of a file, as in sqlite:data/domaindex.db, or a URL of PostgreSQL`,
    )
  }
  return sqliteFilesOf(location)
}
