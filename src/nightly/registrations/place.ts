/** Where registrations lie in their folder: the names of each zone and day, and what was registered and dropped on each day. */

import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { PlaceFault } from '../../input/fault.ts'
import type { Day } from '../../words/time.ts'
import { orNull, syncFolder, writeDurably } from '../durable.ts'
import { endWriter, isLeft, sweep, writerName } from '../shelf-leftovers.ts'

const LOCK = 'lock'

/** The folder of the names of a zone; that of a day. */
export const zoneFolder = (root: string, zone: string): string => join(root, 'zones', zone)
export const dayFolder = (root: string, day: Day): string => join(root, 'days', day)

/** The entries of a folder; none of one that is not there. */
export async function entriesOf(folder: string): Promise<string[]> {
  return (await readdir(folder).catch(orNull)) ?? []
}

/** What a small file says; null where there is none. */
export async function readJson<Value>(path: string): Promise<Value | null> {
  const text = await readFile(path, 'utf8').catch(orNull)
  if (text === null) return null
  try {
    return JSON.parse(text)
  } catch {
    throw new PlaceFault(`${path} is damaged: remove it, and import its file again`)
  }
}

/** Puts a small file in the place of the former one, at once and durably; `beside` is the folder of what it speaks of. */
export async function putJson(folder: string, name: string, value: unknown, beside = folder): Promise<void> {
  const fresh = writerName(name)
  try {
    await writeDurably(join(beside, fresh), lines(JSON.stringify(value)))
    await syncFolder(beside) // what it speaks of is on the disk before it is
    await rename(join(beside, fresh), join(folder, name))
    await syncFolder(folder)
  } finally {
    endWriter(fresh)
  }
}

async function* lines(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(`${text}\n`)
}

/** Makes a folder, or removes from it what killed imports left, but not what `manifests` speak of. */
export async function tidy(folder: string, manifests: () => Promise<readonly string[]>): Promise<void> {
  await mkdir(folder, { recursive: true })
  await sweep(folder, async () => {
    const kept = (await manifests()).map((path) => readJson<{ data?: string[] }>(path))
    return (await Promise.all(kept)).flatMap((each) => each?.data ?? [])
  })
}

/**
 * Works while no other process does: each leaves a file of its own name, and of two that begin at once both may be refused.
 * Throws PlaceFault where another one is at it.
 */
export async function alone<Result>(root: string, work: () => Promise<Result>): Promise<Result> {
  await mkdir(root, { recursive: true })
  const mine = writerName(LOCK)
  await writeFile(join(root, mine), '')
  try {
    await sweep(root, async () => [])
    for (const entry of await entriesOf(root)) {
      if (entry === mine || !entry.startsWith(`${LOCK}.`) || (await isLeft(root, entry))) continue
      const [, host, process] = entry.split('.')
      throw new PlaceFault(
        `another import of zones or lists is at it (process ${process} on ${host}): run this one again when it is done, or remove ${join(root, entry)} if there is none`,
      )
    }
    return await work()
  } finally {
    endWriter(mine)
    await rm(join(root, mine), { force: true })
  }
}
