/** Makes a command wait for disk space before it writes, and notifies the operator. */

import type { Logger } from 'pino'
import type { Settings } from '../config/settings.ts'
import { DiskSpaceMonitor, storeWaitingForSpace } from '../store/disk-space.ts'
import { engineOf } from '../store/engines.ts'
import { openStore } from '../store/open.ts'
import type { Store } from '../store/port/store.ts'
import { withoutOptedOutNames } from './opted-out-names.ts'

type NotifyDiskSpace = ConstructorParameters<typeof DiskSpaceMonitor>[0]['notify']

/** Prints to standard error. `reason`: the reason for the pause; null when it ends. */
export const printDiskSpace: NotifyDiskSpace = (reason) => {
  console.error(reason === null ? 'domaindex: resumed: disk space available' : `domaindex: paused: ${reason}`)
}

/** Writes to a log. */
export function logDiskSpace(log: Pick<Logger, 'warn'>): NotifyDiskSpace {
  return (reason) => log.warn(reason === null ? 'resumed: disk space available' : `paused: disk space low: ${reason}`)
}

/** A monitor for the disks of the store and of the other paths. */
export function diskSpaceOf(
  { store, diskFree }: Settings,
  otherPaths: readonly string[],
  notify: NotifyDiskSpace,
): DiskSpaceMonitor {
  return new DiskSpaceMonitor({ paths: [...engineOf(store).paths(store), ...otherPaths], minFree: diskFree, notify })
}

/**
 * Opens the store of the settings for writing what came from elsewhere. Names of the opt-out list are left out, and
 * writes wait for space on the disks of the store and on those of the other paths.
 */
export async function openStoreWaitingForSpace(
  settings: Settings,
  otherPaths: readonly string[],
  signal: AbortSignal,
): Promise<Store> {
  const { secret, pool } = settings
  const store = await openStore(settings.store, { access: 'write', ledger: 'own', secret, pool })
  try {
    const warn = (message: string): void => console.error(`domaindex: ${message}`)
    const kept = withoutOptedOutNames(store, settings, warn)
    return storeWaitingForSpace(kept, diskSpaceOf(settings, otherPaths, printDiskSpace), signal)
  } catch (error) {
    await store.close()
    throw error
  }
}
