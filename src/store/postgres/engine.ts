/** PostgreSQL: the engine for several machines. */

import type { StoreEngine } from '../port/engine.ts'
import { StoreFault } from '../port/fault.ts'
import { type StoreLocation, storeUrlOf } from '../port/url.ts'
import { redactPostgresUrl } from './locations.ts'
import { openPostgres } from './open.ts'
import { migratePostgresStore, postgresStoreExists } from './upgrade.ts'

export const postgresEngine: StoreEngine = {
  open: (location, options) => openPostgres(storeUrlOf(location), options),
  exists: (location, maxSilence) => postgresStoreExists(storeUrlOf(location), maxSilence),
  migrate: (location, plan, report) => migratePostgresStore(storeUrlOf(location), plan, report),
  openBulk: async (location, access) =>
    (await import('./maintenance/bulk.ts')).openBulkPostgres(storeUrlOf(location), access),
  backup: async (location) => throwBackupFault(location),
  restore: async (_from, location) => throwBackupFault(location),
}

function throwBackupFault(location: StoreLocation): never {
  throw new StoreFault(
    `${redactPostgresUrl(storeUrlOf(location))}: PostgreSQL is backed up and restored by its own tools: pg_dump --format=directory and pg_restore --exit-on-error, as docs/postgresql.md says`,
  )
}
