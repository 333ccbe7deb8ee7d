/** The destination of a list crawl by the settings: the store, with writes that wait for disk space. */

import { resolve } from 'node:path'
import { CommandFault } from '../../config/command-fault.ts'
import { probeIntervalsOf } from '../../config/probe-intervals.ts'
import type { Settings } from '../../config/settings.ts'
import { type Destination, storeDestination } from '../../crawler/list/destination.ts'
import { printDiskSpace } from '../../server/disk-space.ts'
import { DiskSpaceMonitor } from '../../store/disk-space.ts'
import { engineOf, redactedStoreUrl } from '../../store/engines.ts'
import { openStore } from '../../store/open.ts'
import type { StoreLocation } from '../../store/port/url.ts'

/** Throws StoreFault if the store cannot be opened. */
export async function openStoreDestination(settings: Settings): Promise<Destination> {
  const { secret, pool } = settings
  const intervals = probeIntervalsOf(settings)
  const store = await openStore(settings.store, { access: 'write', ledger: 'own', secret, pool })
  return storeDestination(store, absoluteUrl(settings.store), intervals)
}

/** The URL without its password. It names the same store in every working directory. */
function absoluteUrl(location: StoreLocation): string {
  return engineOf(location)
    .paths(location)
    .reduce((text, path) => text.replace(path, () => resolve(path)), redactedStoreUrl(location))
}

/** Makes writes wait for disk space. A file accepts a batch only if there is space. A store also retries. */
export function waitingDestination(destination: Destination, settings: Settings, signal: AbortSignal): Destination {
  const { isFile, label, write } = destination
  const store = isFile ? null : settings.store
  const diskSpace = new DiskSpaceMonitor({
    paths: store === null ? [label] : engineOf(store).paths(store),
    minFree: settings.diskFree,
    notify: printDiskSpace,
  })
  const writeWhenSpace: Destination['write'] = async (...given) => {
    if (!isFile) return diskSpace.write(() => write(...given), signal)
    await diskSpace.wait(signal)
    return write(...given)
  }
  return { ...destination, write: (...given) => writeWhenSpace(...given).catch(throwIfStopped) }
}

/** A crawl that is stopped during a wait for disk space has not written its last results. */
function throwIfStopped(error: unknown): never {
  if ((error as Error).name !== 'AbortError') throw error
  throw new CommandFault('stopped while the disk was full; the last results are not written: run it again to continue')
}
