/** The data of a zone or list for a day: sorted lists of the names that were registered and dropped. */

import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { open, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline, Readable } from 'node:stream'
import { createGzip } from 'node:zlib'
import { nullIfMissing, writeDurably } from '../jobs/file-store/durable.ts'
import { endWriter, newWriterName } from '../jobs/file-store/leftovers.ts'
import { namesInGzip } from '../jobs/file-store/packed-names.ts'
import type { DomainName } from '../values/domain-name.ts'
import { type Day, type Instant, parseDay } from '../values/time.ts'
import { dayFolderPath, folderEntries, prepareFolder, readJsonFile, replaceJsonFile } from './folder.ts'

/**
 * `source`: `zone:gov` or `list:NAME`. `digest`: of both lists, and of nothing else. `registered`, `dropped`: numbers
 * of names.
 */
export type RegistrationSource = {
  source: string
  digest: string
  registered: number
  dropped: number
  imported: Instant
}

/**
 * A stored source. `basis`: what its lists were computed from. `data`: the files of both lists. `isFirst`: a zone without
 * an earlier one to compare with, of which nothing is known to be registered.
 */
type StoredSource = RegistrationSource & {
  basis: string
  data: [registered: string, dropped: string]
  isFirst?: true
}

/** The manifests of each day, valid until its folder changes. */
export type DaysCache = Map<Day, { mtimeMs: number; changed: Instant | null }>

/** A list that was written but not yet published. `sha256`: of its names, one per line. */
export type DraftList = { source: string; day: Day; file: string; count: number; sha256: string }

/** Names per batch. */
const SOURCE_BATCH_NAMES = 10_000
const FAST_GZIP = { level: 1 }

/** Returns the sources of a day, by name. */
export async function readSources(root: string, day: Day): Promise<StoredSource[]> {
  const folder = dayFolderPath(root, day)
  const names = (await folderEntries(folder)).filter((entry) => entry.endsWith('.json'))
  const stored = await Promise.all(names.map((name) => readJsonFile<StoredSource>(join(folder, name))))
  return stored.filter((each) => each !== null).sort((a, b) => (a.source < b.source ? -1 : 1))
}

export function readSource(root: string, day: Day, source: string): Promise<StoredSource | null> {
  return readJsonFile<StoredSource>(sourceManifestPath(root, day, source))
}

/**
 * Returns the days of all sources but first zones, ascending, and when the data of each last changed. `cache` avoids reading unchanged
 * days.
 */
export async function daysWithSources(root: string, cache: DaysCache): Promise<{ day: Day; changed: Instant }[]> {
  const days = (await folderEntries(join(root, 'days'))).flatMap((entry) => parseDay(entry) ?? []).sort()
  const withSources: { day: Day; changed: Instant }[] = []
  for (const day of days) {
    const found = await stat(dayFolderPath(root, day)).catch(nullIfMissing)
    if (found === null) continue // it was removed meanwhile
    const { mtimeMs } = found
    const known = cache.get(day)
    const changed = known?.mtimeMs === mtimeMs ? known.changed : await lastChangeOf(root, day)
    cache.set(day, { mtimeMs, changed })
    if (changed !== null) withSources.push({ day, changed })
  }
  return withSources
}

async function lastChangeOf(root: string, day: Day): Promise<Instant | null> {
  const compared = (await readSources(root, day)).filter(({ isFirst }) => !isFirst)
  return compared.length === 0 ? null : Math.max(...compared.map(({ imported }) => imported))
}

const sourceFileName = (source: string): string => source.replace(':', '-')
const sourceFolder = (root: string, day: Day, source: string): string =>
  join(dayFolderPath(root, day), sourceFileName(source))
const sourceManifestPath = (root: string, day: Day, source: string): string => `${sourceFolder(root, day, source)}.json`

/** Writes a list of names in their order. */
export async function draftList(root: string, day: Day, source: string, names: Iterable<string>): Promise<DraftList> {
  const folder = sourceFolder(root, day, source)
  await prepareFolder(folder, async () => [sourceManifestPath(root, day, source)])
  const draft: DraftList = { source, day, file: newWriterName('names.gz'), count: 0, sha256: '' }
  const digest = createHash('sha256')
  const gzip = createGzip(FAST_GZIP)
  pipeline(Readable.from(nameTexts(names, draft, digest)), gzip, () => {}) // the reader reports errors
  try {
    await writeDurably(join(folder, draft.file), gzip)
  } catch (error) {
    await discardList(root, draft)
    throw error
  }
  return { ...draft, sha256: digest.digest('hex') }
}

function* nameTexts(
  names: Iterable<string>,
  draft: DraftList,
  digest: { update(text: string): unknown },
): Generator<string> {
  let batch: string[] = []
  const text = (): string => {
    const joined = `${batch.join('\n')}\n`
    digest.update(joined)
    draft.count += batch.length
    batch = []
    return joined
  }
  for (const name of names) {
    batch.push(name)
    if (batch.length >= SOURCE_BATCH_NAMES) yield text()
  }
  if (batch.length > 0) yield text()
}

/** Publishes two lists as the data of a source and day. If they equal the present ones, `imported` stays. */
export async function publishSource(
  root: string,
  { basis, imported, isFirst }: Pick<StoredSource, 'basis' | 'imported' | 'isFirst'>,
  [registered, dropped]: readonly [DraftList, DraftList],
): Promise<void> {
  const { source, day } = registered
  const folder = sourceFolder(root, day, source)
  const former = await readSource(root, day, source)
  const digest = createHash('sha256').update(`${registered.sha256} ${dropped.sha256}`).digest('hex')
  const stored: StoredSource = {
    source,
    digest,
    registered: registered.count,
    dropped: dropped.count,
    imported: former?.digest === digest ? former.imported : imported,
    basis,
    data: [registered.file, dropped.file],
    ...(isFirst && { isFirst }),
  }
  await replaceJsonFile(dayFolderPath(root, day), `${sourceFileName(source)}.json`, stored, folder)
  for (const { file } of [registered, dropped]) endWriter(file)
  for (const file of former?.data ?? []) await rm(join(folder, file), { force: true })
}

/** Removes a list that was written, unless it was published. */
export async function discardList(root: string, { source, day, file }: DraftList): Promise<void> {
  const isPublished = (await readSource(root, day, source))?.data.includes(file)
  if (!isPublished) await rm(join(sourceFolder(root, day, source), file), { force: true })
  endWriter(file)
}

/** Yields the names of a list in order, in batches of some thousands. Returns null if the list does not exist. */
export async function openDraftList(
  root: string,
  { source, day, file }: Pick<DraftList, 'source' | 'day' | 'file'>,
): Promise<AsyncGenerator<DomainName[]> | null> {
  const handle = await open(join(sourceFolder(root, day, source), file)).catch(nullIfMissing)
  return handle === null ? null : namesInGzip(createReadStream('', { fd: handle }))
}
