/** The places where an installation keeps files: the file store, and with scheduled jobs the zones and the inbox. */

import { randomUUID } from 'node:crypto'
import type { Settings } from '../../config/settings.ts'
import { BuildFault } from '../../jobs/file-store/build-fault.ts'
import { FILE_KINDS, type FileStore } from '../../jobs/file-store/file-store.ts'
import { FileStoreFault } from '../../jobs/file-store/file-store-fault.ts'
import { openFileStore } from '../../jobs/file-store/open.ts'
import { folderNotes, type PlaceNotes } from '../../jobs/file-store/place-mark.ts'
import type { PlaceName } from '../../store/port/ledger.ts'

/** A place as the settings name it. */
export type Place = {
  name: PlaceName
  location: string
  notes: PlaceNotes
  /** Whether it has finished files; false for zones and inbox. */
  hasFiles(): Promise<boolean>
  /** The mark that this process gives the place if it claims it. So a claim that fails again leaves one file. */
  newMark: string
}

/** The places that a server uses. One that runs no jobs needs neither zones nor an inbox. */
export async function placesOf(settings: Settings): Promise<Place[]> {
  const files = await filePlace(settings)
  return settings.jobTimes === null ? [files] : [files, zonesPlace(settings), inboxPlace(settings)]
}

/** The place of the finished files. */
export async function filePlace(settings: Settings): Promise<Place> {
  const fileStore = await openFileStore(settings)
  return {
    name: 'files',
    location: settings.files,
    notes: fileStore.notes,
    hasFiles: () => hasFiles(fileStore),
    newMark: randomUUID(),
  }
}

async function hasFiles(fileStore: FileStore): Promise<boolean> {
  try {
    for (const kind of FILE_KINDS) if ((await fileStore.list(kind)).length > 0) return true
    return false
  } catch (error) {
    if (error instanceof FileStoreFault || !(error instanceof BuildFault)) throw error
    return true // a damaged file is a file
  }
}

/** The place of zones and lists of names. */
export const zonesPlace = ({ zones }: Settings): Place => folderPlace('zones', zones)

/** The place of files that wait for their import. */
export const inboxPlace = ({ inbox }: Settings): Place => folderPlace('inbox', inbox)

function folderPlace(name: 'zones' | 'inbox', folder: string): Place {
  return { name, location: folder, notes: folderNotes(folder), hasFiles: async () => false, newMark: randomUUID() }
}
