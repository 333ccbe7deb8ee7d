/** The places where an installation keeps files: the file store, and with scheduled jobs the zones and the inbox. */

import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { resolve } from 'node:path'
import type { Settings } from '../../config/settings.ts'
import { BuildFault, FileStoreFault } from '../../jobs/file-store/build-fault.ts'
import { FILE_KINDS, type FileStore } from '../../jobs/file-store/file-store.ts'
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
  /** The store and the machine, by which messages name this installation. */
  description: string
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
    description: describeInstallation(settings),
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
export const zonesPlace = (settings: Settings): Place => folderPlace('zones', settings)

/** The place of files that wait for their import. */
export const inboxPlace = (settings: Settings): Place => folderPlace('inbox', settings)

function folderPlace(name: 'zones' | 'inbox', settings: Settings): Place {
  const folder = settings[name]
  return {
    name,
    location: folder,
    notes: folderNotes(folder),
    hasFiles: async () => false,
    newMark: randomUUID(),
    description: describeInstallation(settings),
  }
}

/** Without user, password and parameters of the store. */
function describeInstallation({ store }: Settings): string {
  const { protocol, host, pathname } = new URL(store)
  const location = host === '' ? `${protocol}${resolve(pathname)}` : `${protocol}//${host}${pathname}`
  return `${location}, first used by ${hostname()}`
}
