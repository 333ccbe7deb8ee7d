/** Removes forgotten names from the finished files of the settings, and from the list of names of the next snapshot. */

import type { Settings } from '../config/settings.ts'
import { BuildFault } from '../jobs/file-store/build-fault.ts'
import { fileFolders } from '../jobs/file-store/location.ts'
import { openFileStore } from '../jobs/file-store/open.ts'
import { type FileRemoval, removeFromFiles, withEachFileLock } from '../jobs/forget-files.ts'
import { packingThreads } from '../jobs/gzip/gzip.ts'
import { processHolderName } from '../store/named-lock.ts'
import type { Store } from '../store/port/store.ts'
import { diskSpaceOf, printDiskSpace } from './disk-space.ts'
import { wrongPlaces } from './places/check.ts'
import { filePlace } from './places/place.ts'
import { SYSTEM_CLOCK } from './system-clock.ts'

/**
 * Waits for builds that other processes have begun, because their files may have the names. `onWait` receives the job.
 * Throws BuildFault if the files are not those of the installation, or if they cannot be replaced.
 */
export async function removeFromFinishedFiles(
  settings: Settings,
  store: Store,
  { isForgotten, onFile, onWait }: Pick<FileRemoval, 'isForgotten' | 'onFile'> & { onWait: (job: string) => void },
  signal: AbortSignal,
): Promise<void> {
  const mode = settings.forgottenFiles
  const wrong = mode === 'keep' ? [] : await wrongPlaces([await filePlace(settings)], store, 'command')
  if (wrong.length > 0) throw new BuildFault(wrong.join('\n'))
  const fileStore = await openFileStore(settings)
  const owner = { jobs: store.jobs, holder: processHolderName(), clock: SYSTEM_CLOCK }
  const threads = packingThreads()
  const diskSpace = diskSpaceOf(settings, fileFolders(settings), printDiskSpace)
  await withEachFileLock(owner, signal, onWait, async (lock, held) => {
    const context = { signal: held.signal, requireLock: held.requireHeld, onRows: () => {}, threads, diskSpace }
    if (mode !== 'keep') await removeFromFiles(lock, { fileStore, isForgotten, mode, onFile }, context)
    // a listing has no forgotten names, and ends what was kept for it
    if (lock === 'snapshot') await (await store.listing.start({ signal: held.signal })).close()
  })
}
