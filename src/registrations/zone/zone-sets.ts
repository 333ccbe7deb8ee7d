/** The names of a zone on a day: parts in the order of slots, packed one by one into a file, with a manifest. */

import { createHash } from 'node:crypto'
import { open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import { StorageError } from '../../import/stream/input-error.ts'
import { writeDurably } from '../../jobs/file-store/durable.ts'
import { endWriter, newWriterName } from '../../jobs/file-store/leftovers.ts'
import type { DomainName } from '../../values/domain-name.ts'
import { addDays, type Day, parseDay } from '../../values/time.ts'
import { folderEntries, prepareFolder, readJsonFile, replaceJsonFile, zoneFolderPath } from '../folder.ts'
import { ZONE_PARTS } from './label-hash.ts'
import { eachLabel, MAX_PART_BYTES } from './sorted-labels.ts'

/** `sha256`: of all parts unpacked. `sizes`: packed size of each part. `data`: the file. */
export type ZoneSet = { zone: string; day: Day; names: number; sha256: string; sizes: number[]; data: [string] }

/** What remains of removed sets: the day of the newest one. */
type PrunedMarker = { until: Day }

/** The parts of a set, each read on request. */
type OpenSet = { part(number: number): Promise<Uint8Array>; close(): Promise<void> }

/**
 * Days before the newest set for which sets are kept. A zone may come a week late and is compared with one of the week
 * before.
 */
const KEPT_SET_DAYS = 14
/** Names per batch. */
const ZONE_BATCH_NAMES = 10_000
const PRUNED_FILE = 'pruned.json'
const FAST_ZSTD = { params: { [constants.ZSTD_c_compressionLevel]: 1 } }

/** Returns the days with stored sets of a zone, ascending. */
async function storedDays(root: string, zone: string): Promise<Day[]> {
  const entries = await folderEntries(zoneFolderPath(root, zone))
  return entries.flatMap((entry) => (entry.endsWith('.json') ? (parseDay(entry.slice(0, -5)) ?? []) : [])).sort()
}

/** Returns the newest day whose set was removed, or null if none was. */
export async function prunedUntil(root: string, zone: string): Promise<Day | null> {
  return (await readJsonFile<PrunedMarker>(join(zoneFolderPath(root, zone), PRUNED_FILE)))?.until ?? null
}

export function readSet(root: string, zone: string, day: Day): Promise<ZoneSet | null> {
  return readJsonFile<ZoneSet>(join(zoneFolderPath(root, zone), `${day}.json`))
}

async function openSet(root: string, { zone, sizes, data }: ZoneSet): Promise<OpenSet> {
  const path = join(zoneFolderPath(root, zone), data[0])
  const file = await open(path)
  const places = [0]
  for (const size of sizes) places.push(places.at(-1)! + size)
  return {
    async part(number) {
      const packed = new Uint8Array(sizes[number]!)
      const { bytesRead } = await file.read(packed, 0, packed.length, places[number]!)
      if (bytesRead < packed.length) throw new StorageError(`${path} is truncated: restore it, or remove its manifest`)
      return zstdDecompressSync(packed, { maxOutputLength: MAX_PART_BYTES })
    },
    close: () => file.close(),
  }
}

/** The sets before and after a day. */
export type NeighbourSets = { earlier: ZoneSet | null; later: ZoneSet | null }

/** Reads the sets of the stored days before and after a day. */
export async function neighbourSets(root: string, zone: string, day: Day): Promise<NeighbourSets> {
  const days = await storedDays(root, zone)
  const [before, after] = [days.findLast((each) => each < day), days.find((each) => each > day)]
  const setOf = (each: Day | undefined) => (each === undefined ? null : readSet(root, zone, each))
  return { earlier: await setOf(before), later: await setOf(after) }
}

export async function openSetIfAny(root: string, set: ZoneSet | null): Promise<OpenSet | null> {
  return set === null ? null : openSet(root, set)
}

/** Yields all names of a set in its order. */
export async function* namesOfSet(root: string, set: ZoneSet): AsyncGenerator<DomainName[]> {
  const open = await openSet(root, set)
  try {
    let batch: DomainName[] = []
    for (let number = 0; number < ZONE_PARTS; number++) {
      eachLabel(await open.part(number), (bytes, from, length) =>
        batch.push(nameFromLabel(bytes, from, length, set.zone)),
      )
      for (; batch.length >= ZONE_BATCH_NAMES; batch = batch.slice(ZONE_BATCH_NAMES))
        yield batch.slice(0, ZONE_BATCH_NAMES)
    }
    if (batch.length > 0) yield batch
  } finally {
    await open.close()
  }
}

/** Returns the name whose label starts at `from` in `bytes`. */
export function nameFromLabel(bytes: Uint8Array, from: number, length: number, zone: string): DomainName {
  return `${Buffer.from(bytes.buffer, bytes.byteOffset + from, length).toString('latin1')}.${zone}` as DomainName
}

/** Writes sorted parts as the set of a day, which is not visible before it is published. */
export async function writeSet(
  root: string,
  { zone, day }: { zone: string; day: Day },
  parts: AsyncIterable<{ bytes: Uint8Array; count: number }>,
): Promise<ZoneSet> {
  const folder = zoneFolderPath(root, zone)
  await prepareFolder(folder, async () => (await storedDays(root, zone)).map((each) => join(folder, `${each}.json`)))
  const digest = createHash('sha256')
  const set: ZoneSet = { zone, day, names: 0, sha256: '', sizes: [], data: [newWriterName(day)] }
  async function* packed(): AsyncGenerator<Uint8Array> {
    for await (const { bytes, count } of parts) {
      const part = zstdCompressSync(bytes, FAST_ZSTD)
      set.sizes.push(part.length)
      set.names += count
      digest.update(bytes)
      yield part
    }
  }
  try {
    await writeDurably(join(folder, set.data[0]), packed())
  } catch (error) {
    await discardSet(root, set)
    throw error
  }
  if (set.sizes.length !== ZONE_PARTS)
    throw new Error(`${ZONE_PARTS} parts belong to a set, ${set.sizes.length} were given`)
  return { ...set, sha256: digest.digest('hex') }
}

/** Publishes a set for its day and removes sets that are too old. */
export async function publishSet(root: string, set: ZoneSet): Promise<void> {
  const folder = zoneFolderPath(root, set.zone)
  const former = await readSet(root, set.zone, set.day)
  await replaceJsonFile(folder, `${set.day}.json`, set)
  endWriter(set.data[0])
  if (former !== null) await rm(join(folder, former.data[0]), { force: true })
  await pruneOldSets(root, set.zone)
}

/** Removes a set that was written, unless it was published. */
export async function discardSet(root: string, { zone, day, data }: ZoneSet): Promise<void> {
  const isPublished = (await readSet(root, zone, day))?.data[0] === data[0]
  if (!isPublished) await rm(join(zoneFolderPath(root, zone), data[0]), { force: true })
  endWriter(data[0])
}

async function pruneOldSets(root: string, zone: string): Promise<void> {
  const folder = zoneFolderPath(root, zone)
  const days = await storedDays(root, zone)
  const old = days.filter((day) => day < addDays(days.at(-1)!, -KEPT_SET_DAYS))
  for (const day of old) {
    const set = await readSet(root, zone, day)
    const prunedDay = await prunedUntil(root, zone)
    if (prunedDay === null || prunedDay < day)
      await replaceJsonFile(folder, PRUNED_FILE, { until: day } satisfies PrunedMarker)
    await rm(join(folder, `${day}.json`), { force: true })
    if (set !== null) await rm(join(folder, set.data[0]), { force: true })
  }
}
