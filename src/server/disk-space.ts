/** Room on the disks of a command: what it writes waits for it, and the operator is told. */

import type { Logger } from 'pino'
import type { Settings } from '../config/settings.ts'
import { DiskSpaceMonitor, storePaths, storeWaitingForSpace } from '../store/disk-space.ts'
import { openStore } from '../store/open.ts'
import type { Store } from '../store/port/store.ts'

type NotifyDiskSpace = ConstructorParameters<typeof DiskSpaceMonitor>[0]['notify']

/** On standard error. */
export const printDiskSpace: NotifyDiskSpace = (why) => {
  console.error(why === null ? 'domaindex: resumed: disk space available' : `domaindex: paused: ${why}`)
}

/** In a log. */
export function logDiskSpace(log: Pick<Logger, 'warn'>): NotifyDiskSpace {
  return (why) => log.warn(why === null ? 'resumed: disk space available' : `paused: disk space low: ${why}`)
}

/** The room of the store's disk, and of those that the other paths lie on. */
export function diskSpaceOf(
  { store, diskFree }: Settings,
  others: readonly string[],
  notify: NotifyDiskSpace,
): DiskSpaceMonitor {
  return new DiskSpaceMonitor({ paths: [...storePaths(store), ...others], minFree: diskFree, notify })
}

/** Opens the store of the settings for writing; saves wait for room on its disk and on those of the other paths. */
export async function openStoreWaitingForSpace(
  settings: Settings,
  others: readonly string[],
  signal: AbortSignal,
): Promise<Store> {
  const { store: place, secret, pool } = settings
  const store = await openStore(place, { access: 'write', ledger: 'own', secret, pool })
  return storeWaitingForSpace(store, diskSpaceOf(settings, others, printDiskSpace), signal)
}
