/** The disks of an installation, by what is on them. */

import { stat } from 'node:fs/promises'
import type { Settings } from '../config/settings.ts'
import { fileFolders } from '../jobs/file-store/location.ts'
import { engineOf } from '../store/engines.ts'
import { nearestExisting } from '../store/shared/disk.ts'
import type { SizedPlace } from '../store/size-history.ts'

/** `path`: the first path of the settings that is on it; it need not exist. */
export type InstallationDisk = { path: string; places: SizedPlace[] }

/**
 * The disks of some places, each once. A store with its ledger on another disk is on both. A store in a database server
 * and files in S3 are on no disk that is known here.
 */
export async function disksOf(settings: Settings, places: readonly SizedPlace[]): Promise<InstallationDisk[]> {
  const paths = pathsOf(settings)
  const disks = new Map<number, InstallationDisk>()
  for (const place of places)
    for (const path of paths[place]) {
      const { dev } = await stat(nearestExisting(path))
      const disk = disks.get(dev) ?? { path, places: [] }
      if (!disk.places.includes(place)) disk.places.push(place)
      disks.set(dev, disk)
    }
  return [...disks.values()]
}

function pathsOf(settings: Settings): Record<SizedPlace, readonly string[]> {
  const { store, ledger, zones, inbox } = settings
  return {
    store: [...engineOf(store).paths(store), ...(ledger === null ? [] : [ledger])],
    files: fileFolders(settings),
    zones: [zones],
    inbox: [inbox],
  }
}
