/** Opens, copies and migrates a store by its URL. Each function throws StoreFault. */

import { engineOf } from './engines.ts'
import type { BulkStore } from './port/bulk.ts'
import type { OnProgress, OpenStoreOptions } from './port/engine.ts'
import type { Store } from './port/store.ts'
import type { StoreLocation } from './port/url.ts'

/** Creates the store if there is none. */
export async function openStore(location: StoreLocation, options: OpenStoreOptions): Promise<Store> {
  return (await engineOf(location).load()).open(location, options)
}

/** Whether a store, even an unfinished one, exists. `maxSilence`: milliseconds that a server may be silent. */
export async function storeExists(location: StoreLocation, maxSilence?: number): Promise<boolean> {
  return (await engineOf(location).load()).exists(location, maxSilence)
}

/** Copies a store that is in use to the new folder `to`. Aborting `signal` stops it and leaves nothing behind. */
export async function backupStore(
  location: StoreLocation,
  to: string,
  onProgress: OnProgress,
  signal: AbortSignal,
): Promise<void> {
  await (await engineOf(location).load()).backup(location, to, onProgress, signal)
}

/** Restores the backup in the folder `from` to a location without a store. */
export async function restoreStore(from: string, location: StoreLocation, onProgress: OnProgress): Promise<void> {
  await (await engineOf(location).load()).restore(from, location, onProgress)
}

/**
 * Migrates a store to this release. With `plan` it changes nothing. `report` receives what the migration waits for.
 * Returns the names of the migrations.
 */
export async function migrateStore(
  location: StoreLocation,
  plan: boolean,
  report: (message: string) => void = () => {},
): Promise<string[]> {
  return (await engineOf(location).load()).migrate(location, plan, report)
}

/** Opens a whole store for a copy. With `write`, it creates the store if there is none. */
export async function openBulkStore(location: StoreLocation, access: 'read' | 'write'): Promise<BulkStore> {
  return (await engineOf(location).load()).openBulk(location, access)
}
