/** Measures how many bytes the store, the finished files and the folders of an installation take. */

import { lstat, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { StoreMaintenance } from '../store/port/store.ts'
import type { PlaceSizes } from '../store/size-history.ts'
import { nullIfMissing } from './file-store/durable.ts'
import { FILE_KINDS, type FileStore } from './file-store/file-store.ts'

export type MeasuredPlaces = {
  store: { maintenance: Pick<StoreMaintenance, 'sizes'> }
  fileStore: Pick<FileStore, 'list'>
  /** Folders, which may not exist. */
  zones: string
  inbox: string
}

/** Reads no content: the sizes of the store's files, the manifests of finished files, and the entries of the folders. */
export async function measurePlaces({ store, fileStore, zones, inbox }: MeasuredPlaces): Promise<PlaceSizes> {
  const { facts, ledger } = await store.maintenance.sizes()
  const finished = (await Promise.all(FILE_KINDS.map((kind) => fileStore.list(kind)))).flat()
  return {
    store: facts + ledger,
    files: finished.reduce((sum, { bytes }) => sum + bytes, 0),
    zones: await folderBytes(zones),
    inbox: await folderBytes(inbox),
  }
}

/** The bytes of all files in a folder and below it; 0 if it does not exist. */
async function folderBytes(folder: string): Promise<number> {
  let total = 0
  for (const entry of (await readdir(folder, { withFileTypes: true }).catch(nullIfMissing)) ?? []) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) total += await folderBytes(path)
    else total += (await lstat(path).catch(nullIfMissing))?.size ?? 0
  }
  return total
}
