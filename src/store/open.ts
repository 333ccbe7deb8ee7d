/** Opens, copies and upgrades a store by its URL: the one place that knows which engines there are. */

import { existsSync } from 'node:fs'
import type { Bulk } from './bulk.ts'
import { StoreFault } from './fault.ts'
import type { OpenOptions } from './options.ts'
import type { OnProgress } from './sqlite/backup.ts'
import { filesOf, type StoreFiles } from './sqlite/files.ts'
import { openSqlite } from './sqlite/open.ts'
import type { Store } from './store.ts'
import { isPostgres, masked, type StorePlace, shown, urlOf } from './url.ts'

const BACKED_UP =
  'PostgreSQL is backed up and restored by its own tools: pg_dump --format=directory and pg_restore --exit-on-error, as docs/operating.md says'

/** Throws StoreFault where the store cannot be opened, with what to do about it. */
export async function openStore(place: StorePlace, options: OpenOptions): Promise<Store> {
  if (isPostgres(place)) return (await import('./postgres/open.ts')).openPostgres(urlOf(place), options)
  const { now = () => Math.floor(Date.now() / 1000), demo = false } = options
  return openSqlite(sqliteFiles(place), { ...options, now, demo })
}

/** True where there is a store, or what was begun as one. Throws StoreFault where that cannot be seen. */
export async function isThere(place: StorePlace): Promise<boolean> {
  if (isPostgres(place)) return (await import('./postgres/upgrade.ts')).isTherePostgres(urlOf(place))
  return existsSync(sqliteFiles(place).facts)
}

/** Copies a store that is in use to the new folder `to`; `signal` gives it up and leaves nothing behind. Throws StoreFault. */
export async function backupStore(
  place: StorePlace,
  to: string,
  onProgress: OnProgress,
  signal: AbortSignal,
): Promise<void> {
  if (isPostgres(place)) throw new StoreFault(`${shown(place)}: ${BACKED_UP}`)
  const { backupSqlite } = await import('./sqlite/backup.ts')
  await backupSqlite(sqliteFiles(place), to, onProgress, signal)
}

/** Makes a store, where there is none, out of the backup in the folder `from`. Throws StoreFault. */
export async function restoreStore(from: string, place: StorePlace, onProgress: OnProgress): Promise<void> {
  if (isPostgres(place)) throw new StoreFault(`${shown(place)}: ${BACKED_UP}`)
  const { restoreSqlite } = await import('./sqlite/restore.ts')
  await restoreSqlite(from, sqliteFiles(place), onProgress)
}

/**
 * Brings a store up to this release, or with `plan` changes nothing; `tell` hears what it waits for. Returns the names of the
 * migrations. Throws StoreFault.
 */
export async function migrateStore(
  place: StorePlace,
  plan: boolean,
  tell: (words: string) => void = () => {},
): Promise<string[]> {
  if (isPostgres(place)) return (await import('./postgres/upgrade.ts')).migratePostgres(urlOf(place), plan, tell)
  const { migrateSqlite } = await import('./sqlite/upgrade.ts')
  return migrateSqlite(sqliteFiles(place), plan)
}

/** Opens a whole store for a copy: `read` from it, or `write` to it, where it is made if there is none. Throws StoreFault. */
export async function openBulk(place: StorePlace, access: 'read' | 'write'): Promise<Bulk> {
  if (isPostgres(place)) return (await import('./postgres/bulk.ts')).openBulkPostgres(urlOf(place), access)
  return (await import('./sqlite/bulk.ts')).openBulkSqlite(sqliteFiles(place), access)
}

/** The files of a store of SQLite. Throws StoreFault where the URL is none. */
function sqliteFiles(place: StorePlace): StoreFiles {
  const url = urlOf(place)
  if (!url.startsWith('sqlite:') || url.length === 'sqlite:'.length) {
    throw new StoreFault(
      `DOMAINDEX_STORE is ${JSON.stringify(masked(url))}: write sqlite: and the path of a file, as in sqlite:data/domaindex.db, or a URL of PostgreSQL`,
    )
  }
  return filesOf(place)
}
