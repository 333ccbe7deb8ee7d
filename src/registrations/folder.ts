/**
 * The layout of the registrations folder: the names of each zone and day, and the registrations and drops of each day.
 */

import { readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { StorageError } from '../import/stream/input-error.ts'
import { ensureFolder, lineContent, nullIfMissing, syncFolder, writeDurably } from '../jobs/file-store/durable.ts'
import { endWriter, isLeftover, newWriterName, removeLeftovers } from '../jobs/file-store/leftovers.ts'
import { type Day, parseDay } from '../values/time.ts'

const LOCK_FILE_PREFIX = 'lock'

/** The folder with the names of a zone, and the folder of a day. */
export const zoneFolderPath = (root: string, zone: string): string => join(root, 'zones', zone)
export const dayFolderPath = (root: string, day: Day): string => join(root, 'days', day)

/** Returns the entries of a folder, or none if it does not exist. */
export async function folderEntries(folder: string): Promise<string[]> {
  return (await readdir(folder).catch(nullIfMissing)) ?? []
}

/**
 * Removes what was registered and dropped on the days before one, or only counts these days. Throws StorageError if
 * another process is at work.
 */
export async function removeDaysBefore(root: string, before: Day, isDry: boolean): Promise<number> {
  const days = (await folderEntries(join(root, 'days'))).filter((entry) => (parseDay(entry) ?? before) < before)
  if (days.length > 0 && !isDry)
    await withFolderLock(root, async () => {
      for (const day of days) await rm(join(root, 'days', day), { recursive: true, force: true })
      await syncFolder(join(root, 'days')) // after a power failure, files would be built from what came back
    })
  return days.length
}

/** Returns the content of a small file, or null if it does not exist. */
export async function readJsonFile<Value>(path: string): Promise<Value | null> {
  const text = await readFile(path, 'utf8').catch(nullIfMissing)
  if (text === null) return null
  try {
    return JSON.parse(text)
  } catch {
    throw new StorageError(`${path} is damaged: remove it, and import its file again`)
  }
}

/** Replaces a small file atomically and durably. `dataFolder` is the folder of the data that it describes. */
export async function replaceJsonFile(
  folder: string,
  name: string,
  value: unknown,
  dataFolder = folder,
): Promise<void> {
  const temporaryName = newWriterName(name)
  try {
    await writeDurably(join(dataFolder, temporaryName), lineContent(JSON.stringify(value)))
    await syncFolder(dataFolder) // the data must be on disk before the file that describes it
    await rename(join(dataFolder, temporaryName), join(folder, name))
    await syncFolder(folder)
  } finally {
    endWriter(temporaryName)
  }
}

/**
 * Makes the published data of a day durable. An import that failed after it had replaced a file may have left it
 * unsynced, and the next one, which finds the file as it should be, replaces nothing.
 */
export async function syncDay(root: string, day: Day): Promise<void> {
  await syncFolder(dayFolderPath(root, day)).catch(nullIfMissing)
}

/** Creates a folder, or removes what interrupted imports left in it, but not what `manifests` name. */
export async function prepareFolder(folder: string, manifests: () => Promise<readonly string[]>): Promise<void> {
  await ensureFolder(folder)
  await removeLeftovers(folder, async () => {
    const contents = (await manifests()).map((path) => readJsonFile<{ data?: string[] }>(path))
    return (await Promise.all(contents)).flatMap((each) => each?.data ?? [])
  })
}

/**
 * Runs while no other process works on the folder. Each process leaves a file of its own name. If two start at once,
 * both may be rejected.
 * Throws StorageError if another process is at work.
 */
export async function withFolderLock<Result>(root: string, work: () => Promise<Result>): Promise<Result> {
  await ensureFolder(root)
  const mine = newWriterName(LOCK_FILE_PREFIX)
  try {
    await writeFile(join(root, mine), '')
    await removeLeftovers(root, async () => [])
    for (const entry of await folderEntries(root)) {
      if (entry === mine || !entry.startsWith(`${LOCK_FILE_PREFIX}.`) || (await isLeftover(root, entry))) continue
      const [, host, process] = entry.split('.')
      throw new StorageError(
        `another import of zones or lists is running (process ${process} on ${host}): run this one again when it ends, ` +
          `or remove ${join(root, entry)} if no import is running`,
      )
    }
    return await work()
  } finally {
    endWriter(mine)
    await rm(join(root, mine), { force: true })
  }
}
