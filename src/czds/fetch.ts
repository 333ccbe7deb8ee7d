/** Fetches the zones of an account into a folder, one after another: each under its own name once it is there whole. */

import { mkdir, open, readdir, rename, rm, stat, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { InputFault, PlaceFault } from '../input/fault.ts'
import { parseName } from '../words/name.ts'
import { type Day, dayOf } from '../words/time.ts'
import type { Czds, ZoneHead } from './czds.ts'

/** What became of a zone. `file`: its name in the folder, null where nothing was found out. */
export type Fetched = { zone: string; file: string | null } & (
  | { outcome: 'fetched'; bytes: number }
  | { outcome: 'there' }
  | { outcome: 'failed'; reason: string }
)

export type Fetch = {
  czds: Pick<Czds, 'links' | 'head' | 'bytes'>
  folder: string
  /** Zones that are wanted; null for all that the account may have. */
  wanted: readonly string[] | null
  signal: AbortSignal
  /** Whether the zone of that day need not be fetched any more. */
  has(zone: string, day: Day, file: string): Promise<boolean>
  /** Told of the bytes that are there of a zone. */
  onBytes(zone: string, bytes: number, of: number | null): void
  onFetched(fetched: Fetched): void
}

/** The most bytes of a zone, several times those of the largest. */
const MOST_BYTES = 2 ** 36
/** How often a download may break off. */
const TRIES = 5
/** Bytes that stay free. */
const SPARE = 2 ** 28

type Goal = { link: string; zone: string; head: ZoneHead; file: string; part: string }

/** A zone that fails does not keep the others. Throws InputFault where the account cannot be used, PlaceFault where the disk is full. */
export async function fetchZones(fetch: Fetch): Promise<Fetched[]> {
  const { czds, folder, wanted, signal, onFetched } = fetch
  const links = new Map((await czds.links()).map((link) => [zoneIn(link), link]))
  await mkdir(folder, { recursive: true })
  const found: Fetched[] = []
  for (const zone of wanted ?? [...links.keys()].sort()) {
    signal.throwIfAborted()
    const link = links.get(zone)
    const fetched =
      link === undefined ? failed(zone, null, 'the account may not have it') : await fetchOne(fetch, zone, link)
    found.push(fetched)
    onFetched(fetched)
  }
  return found
}

/** `com` of `https://czds-download-api.icann.org/czds/downloads/com.zone`. Throws InputFault for another address. */
function zoneIn(link: string): string {
  const zone = /\/([^/]+)\.zone$/.exec(new URL(link).pathname)?.[1]?.toLowerCase() ?? ''
  if (parseName(`name.${zone}`) === null)
    throw new InputFault(`${JSON.stringify(link.slice(0, 200))} is not the address of a zone`)
  return zone
}

async function fetchOne(fetch: Fetch, zone: string, link: string): Promise<Fetched> {
  let file: string | null = null
  try {
    const head = await fetch.czds.head(link)
    const day = dayIn(head)
    file = `${zone}-${day}.zone.gz`
    if (await fetch.has(zone, day, file)) return { zone, file, outcome: 'there' }
    const goal: Goal = { link, zone, head, file, part: `.${file}.part` }
    await expectRoom(fetch.folder, goal)
    await removeOthers(fetch.folder, goal)
    return { zone, file, outcome: 'fetched', bytes: await download(fetch, goal) }
  } catch (error) {
    if (error instanceof PlaceFault || !(error instanceof InputFault)) throw error
    return failed(zone, file, error.message)
  }
}

function failed(zone: string, file: string | null, reason: string): Fetched {
  return { zone, file, outcome: 'failed', reason }
}

function dayIn({ modified }: ZoneHead): Day {
  const time = Date.parse(modified)
  if (Number.isNaN(time)) throw new InputFault('the server does not say of which day it is (Last-Modified)')
  return dayOf(Math.floor(time / 1000))
}

async function expectRoom(folder: string, { file, head }: Goal): Promise<void> {
  const bytes = head.bytes ?? 0
  if (head.bytes === 0) throw new InputFault('it is empty')
  if (bytes > MOST_BYTES) throw new InputFault(`it has ${bytes} bytes, and at most ${MOST_BYTES} are fetched`)
  const { bavail, bsize } = await statfs(folder)
  if (bavail * bsize < bytes + SPARE)
    throw new PlaceFault(
      `${file} has ${Math.ceil(bytes / 2 ** 20)} MiB, and the disk of ${folder} has less than that and 256 MiB free: make room`,
    )
}

/** What was begun of the zone of another day is of no use any more. */
async function removeOthers(folder: string, { zone, part }: Goal): Promise<void> {
  for (const entry of await readdir(folder))
    if (entry.startsWith(`.${zone}-`) && entry.endsWith('.zone.gz.part') && entry !== part)
      await rm(join(folder, entry))
}

/** Goes on where an earlier download broke off; returns the bytes of the whole file. */
async function download(fetch: Fetch, goal: Goal): Promise<number> {
  const part = join(fetch.folder, goal.part)
  for (let tries = 1; ; tries++) {
    const reason = await downloadPart(fetch, goal, part)
    const bytes = await sizeOf(part)
    const isWhole = goal.head.bytes === null || bytes === goal.head.bytes
    if (reason === null && isWhole) {
      await rename(part, join(fetch.folder, goal.file))
      return bytes
    }
    if (reason === null) await rm(part) // it ended well, so nothing of it can be gone on with
    if (tries === TRIES)
      throw new InputFault(
        reason === null
          ? `it has ${bytes} bytes, and was to have ${goal.head.bytes}`
          : `the download broke off ${TRIES} times (${reason}); it is gone on with the next time`,
      )
  }
}

/** Null where the server came to its end, else why it broke off. */
async function downloadPart(
  { czds, signal, onBytes }: Fetch,
  { link, zone, head }: Goal,
  part: string,
): Promise<string | null> {
  const size = await sizeOf(part)
  if (size === head.bytes) return null
  const { from, bytes, modified } = await czds.bytes(link, size, head.modified)
  if (modified !== head.modified)
    throw new InputFault('it was made anew while it was being fetched: the next time will do')
  const handle = await open(part, from === 0 ? 'w' : 'a', 0o600)
  let at = from
  try {
    for await (const piece of bytes) {
      for (let done = 0; done < piece.length; ) done += (await handle.write(piece, done)).bytesWritten
      at += piece.length
      if (at > MOST_BYTES) throw new InputFault(`it has more than ${MOST_BYTES} bytes`)
      onBytes(zone, at, head.bytes)
    }
    return null
  } catch (error) {
    signal.throwIfAborted()
    const { code } = error as NodeJS.ErrnoException
    if (error instanceof InputFault || code === 'ENOSPC') throw error
    return (error as Error).message
  } finally {
    await handle.sync()
    await handle.close()
  }
}

async function sizeOf(path: string): Promise<number> {
  return (await stat(path).catch(() => null))?.size ?? 0
}
