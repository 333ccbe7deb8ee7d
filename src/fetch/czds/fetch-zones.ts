/** Downloads the zones of an account into a folder, one at a time. A zone gets its final name when it is complete. */

import { open, readdir, rename, rm, stat, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { InputError, StorageError } from '../../import/stream/input-error.ts'
import { ensureFolder } from '../../jobs/file-store/durable.ts'
import { markComplete } from '../../registrations/inbox.ts'
import { parseName } from '../../values/domain-name.ts'
import { type Day, dayOf } from '../../values/time.ts'
import type { CzdsClient, ZoneFileInfo } from './czds-client.ts'

/** The outcome of a zone. `file`: its name in the folder, null if it is unknown. */
export type ZoneFetchResult = { zone: string; file: string | null } & (
  | { outcome: 'fetched'; bytes: number }
  | { outcome: 'there' }
  | { outcome: 'failed'; reason: string }
)

type ZoneFetch = {
  czds: Pick<CzdsClient, 'links' | 'head' | 'bytes'>
  folder: string
  /** Zones to fetch; null for all zones approved for the account. */
  zones: readonly string[] | null
  signal: AbortSignal
  /** Whether the zone of that day is already present. */
  has(zone: string, day: Day, file: string): Promise<boolean>
  /** Called with the number of bytes downloaded so far. */
  onBytes(zone: string, bytes: number, of: number | null): void
  onFetched(fetched: ZoneFetchResult): void
}

/** Maximum size of a zone in bytes, several times the size of the largest zone. */
const MAX_ZONE_BYTES = 2 ** 36
/** How often a download may be interrupted. */
const MAX_DOWNLOAD_TRIES = 5
/** Minimum free disk space in bytes after a download. */
const MIN_FREE_BYTES = 2 ** 28

type ZoneDownload = { link: string; zone: string; head: ZoneFileInfo; file: string; part: string }

/**
 * A failed zone does not stop the others. Throws InputError if the account is unusable, StorageError if the disk is
 * full.
 */
export async function fetchZones(fetch: ZoneFetch): Promise<ZoneFetchResult[]> {
  const { czds, folder, zones, signal, onFetched } = fetch
  const links = new Map((await czds.links()).map((link) => [zoneFromLink(link), link]))
  await ensureFolder(folder)
  const found: ZoneFetchResult[] = []
  for (const zone of zones ?? [...links.keys()].sort()) {
    signal.throwIfAborted()
    const link = links.get(zone)
    const fetched =
      link === undefined
        ? failedFetch(zone, null, 'the account is not approved for it')
        : await fetchZone(fetch, zone, link)
    found.push(fetched)
    onFetched(fetched)
  }
  return found
}

/** `com` of `https://czds-download-api.icann.org/czds/downloads/com.zone`. Throws InputError for another address. */
function zoneFromLink(link: string): string {
  const zone = /\/([^/]+)\.zone$/.exec(new URL(link).pathname)?.[1]?.toLowerCase() ?? ''
  if (parseName(`name.${zone}`) === null)
    throw new InputError(`${JSON.stringify(link.slice(0, 200))} is not the address of a zone`)
  return zone
}

async function fetchZone(fetch: ZoneFetch, zone: string, link: string): Promise<ZoneFetchResult> {
  let file: string | null = null
  try {
    const head = await fetch.czds.head(link)
    const day = zoneDayOf(head)
    file = `${zone}-${day}.zone.gz`
    if (await fetch.has(zone, day, file)) return { zone, file, outcome: 'there' }
    const goal: ZoneDownload = { link, zone, head, file, part: `.${file}.part` }
    await requireFreeSpace(fetch.folder, goal)
    await removeStaleParts(fetch.folder, goal)
    return { zone, file, outcome: 'fetched', bytes: await downloadZone(fetch, goal) }
  } catch (error) {
    if (error instanceof StorageError || !(error instanceof InputError)) throw error
    return failedFetch(zone, file, error.message)
  }
}

function failedFetch(zone: string, file: string | null, reason: string): ZoneFetchResult {
  return { zone, file, outcome: 'failed', reason }
}

function zoneDayOf({ modified }: ZoneFileInfo): Day {
  const time = Date.parse(modified)
  if (Number.isNaN(time)) throw new InputError('the server does not send its day (Last-Modified)')
  return dayOf(Math.floor(time / 1000))
}

async function requireFreeSpace(folder: string, { file, head }: ZoneDownload): Promise<void> {
  const bytes = head.bytes ?? 0
  if (head.bytes === 0) throw new InputError('it is empty')
  if (bytes > MAX_ZONE_BYTES) throw new InputError(`it has ${bytes} bytes, and at most ${MAX_ZONE_BYTES} are allowed`)
  const { bavail, bsize } = await statfs(folder)
  if (bavail * bsize < bytes + MIN_FREE_BYTES)
    throw new StorageError(
      `${file} has ${Math.ceil(bytes / 2 ** 20)} MiB, and the disk of ${folder} has less than that plus 256 MiB free: free disk space`,
    )
}

/** Removes incomplete downloads of other days. */
async function removeStaleParts(folder: string, { zone, part }: ZoneDownload): Promise<void> {
  for (const entry of await readdir(folder))
    if (entry.startsWith(`.${zone}-`) && entry.endsWith('.zone.gz.part') && entry !== part)
      await rm(join(folder, entry))
}

/** Continues an interrupted download. Returns the size of the complete file in bytes. */
async function downloadZone(fetch: ZoneFetch, goal: ZoneDownload): Promise<number> {
  const part = join(fetch.folder, goal.part)
  for (let tries = 1; ; tries++) {
    const reason = await downloadPart(fetch, goal, part)
    const bytes = await fileSize(part)
    const isWhole = goal.head.bytes === null || bytes === goal.head.bytes
    if (reason === null && isWhole) {
      await markComplete(part)
      await rename(part, join(fetch.folder, goal.file))
      return bytes
    }
    if (reason === null) await rm(part) // the download ended normally, so there is nothing to continue
    if (tries === MAX_DOWNLOAD_TRIES)
      throw new InputError(
        reason === null
          ? `it has ${bytes} bytes, but ${goal.head.bytes} were announced`
          : `the download broke off ${MAX_DOWNLOAD_TRIES} times (${reason}); the next run continues it`,
      )
  }
}

/** Returns null if the download ended normally, else the reason of the interruption. */
async function downloadPart(
  { czds, signal, onBytes }: ZoneFetch,
  { link, zone, head }: ZoneDownload,
  part: string,
): Promise<string | null> {
  const size = await fileSize(part)
  if (size === head.bytes) return null
  const { from, bytes, modified } = await czds.bytes(link, size, head.modified)
  if (modified !== head.modified)
    throw new InputError('it changed during the download: the next run downloads it again')
  const handle = await open(part, from === 0 ? 'w' : 'a', 0o600)
  let at = from
  try {
    for await (const piece of bytes) {
      for (let done = 0; done < piece.length; ) done += (await handle.write(piece, done)).bytesWritten
      at += piece.length
      if (at > MAX_ZONE_BYTES) throw new InputError(`it has more than ${MAX_ZONE_BYTES} bytes`)
      onBytes(zone, at, head.bytes)
    }
    return null
  } catch (error) {
    signal.throwIfAborted()
    const { code } = error as NodeJS.ErrnoException
    if (error instanceof InputError || code === 'ENOSPC') throw error
    return (error as Error).message
  } finally {
    await handle.sync()
    await handle.close()
  }
}

async function fileSize(path: string): Promise<number> {
  return (await stat(path).catch(() => null))?.size ?? 0
}
