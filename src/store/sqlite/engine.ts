/** SQLite: the embedded engine. */

import type { StoreEngine } from '../port/engine.ts'
import { pathExists } from '../shared/access.ts'
import { sqliteFilesOf } from './locations.ts'
import { openSqlite } from './open.ts'

export const sqliteEngine: StoreEngine = {
  async open(location, options) {
    const { now = () => Math.floor(Date.now() / 1000), demo = false } = options
    return openSqlite(sqliteFilesOf(location), { ...options, now, demo })
  },
  exists: async (location) => pathExists(sqliteFilesOf(location).facts),
  migrate: async (location, plan) => (await import('./upgrade.ts')).migrateSqliteStore(sqliteFilesOf(location), plan),
  openBulk: async (location, access) =>
    (await import('./maintenance/bulk.ts')).openBulkSqlite(sqliteFilesOf(location), access),
  backup: async (location, to, onProgress, signal) =>
    (await import('./backup/backup.ts')).backupSqlite(sqliteFilesOf(location), to, onProgress, signal),
  restore: async (from, location, onProgress) =>
    (await import('./backup/restore.ts')).restoreSqlite(from, sqliteFilesOf(location), onProgress),
}
