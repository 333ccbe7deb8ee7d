/** Transfers zones into a folder, one at a time. A zone gets its final name when it is complete. */

import { readdir, readFile, rename, rm, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline, Readable } from 'node:stream'
import { createGzip } from 'node:zlib'
import { InputError, StorageError } from '../../import/stream/input-error.ts'
import { ensureFolder, lineContent, nullIfMissing, syncFolder, writeDurably } from '../../jobs/file-store/durable.ts'
import { addDays, type Day, dayOf, type Instant } from '../../values/time.ts'
import type { TransferServer } from './connection.ts'
import { transferZone, zoneSerial } from './transfer.ts'
import type { TsigKey } from './tsig.ts'

/** `servers`: tried in this order until one hands out the zone. */
export type TransferTarget = { zone: string; servers: readonly TransferServer[]; key: TsigKey | null }

/** The outcome of a zone. `unchanged`: its serial is that of the last transfer. `names`: delegations. */
export type ZoneTransferResult = { zone: string } & (
  | { outcome: 'fetched'; file: string; serial: number; names: number }
  | { outcome: 'there'; file: string }
  | { outcome: 'unchanged'; serial: number }
  | { outcome: 'failed'; reason: string }
)

export type ZoneTransfers = {
  targets: readonly TransferTarget[]
  folder: string
  signal: AbortSignal
  now: () => Instant
  /** Bytes and seconds of one transfer. By default MAX_TRANSFER_BYTES and MAX_TRANSFER_SECONDS. */
  maxBytes?: number
  maxSeconds?: number
  idleMs?: number
  /** Whether the zone of that day is already present. */
  has(zone: string, day: Day, file: string): Promise<boolean>
  /** Called with the number of delegations so far. */
  onNames(zone: string, names: number): void
  onEnded(result: ZoneTransferResult): void
}

/** What is kept of the last transfer of a zone. */
type LastTransfer = { serial: number; day: Day }

const MAX_TRANSFER_BYTES = 2 ** 35
const MAX_TRANSFER_SECONDS = 6 * 3600
/** A zone is transferred after this many days even if its serial has not moved, so that it can be compared (contract). */
const MAX_DAYS_UNCHANGED = 7
/** Minimum free disk space in bytes, checked at the beginning and after every CHECKED_BYTES. */
const MIN_FREE_BYTES = 2 ** 28
const CHECKED_BYTES = 2 ** 26
/** The folder within the folder of zones that keeps the serial of each zone. */
const SERIALS_FOLDER = 'transfers'

/** A failed zone does not stop the others. Throws StorageError if the disk is full. */
export async function fetchTransfers(transfers: ZoneTransfers): Promise<ZoneTransferResult[]> {
  const results: ZoneTransferResult[] = []
  await ensureFolder(join(transfers.folder, SERIALS_FOLDER))
  for (const target of transfers.targets) {
    transfers.signal.throwIfAborted()
    const result = await fetchTransfer(transfers, target)
    results.push(result)
    transfers.onEnded(result)
  }
  return results
}

async function fetchTransfer(transfers: ZoneTransfers, target: TransferTarget): Promise<ZoneTransferResult> {
  const { zone, servers } = target
  const day = dayOf(transfers.now())
  const file = `${zone}-${day}.zone.gz`
  if (await transfers.has(zone, day, file)) return { zone, outcome: 'there', file }
  let reason = 'no name server of it is known: name one with ZONE@SERVER'
  for (const server of servers) {
    try {
      return await fetchFrom(transfers, target, { server, day, file })
    } catch (error) {
      transfers.signal.throwIfAborted()
      if (error instanceof StorageError || !(error instanceof InputError)) throw error
      reason = `${server.host}: ${error.message}`
    }
  }
  return { zone, outcome: 'failed', reason }
}

async function fetchFrom(
  transfers: ZoneTransfers,
  { zone, key }: TransferTarget,
  { server, day, file }: { server: TransferServer; day: Day; file: string },
): Promise<ZoneTransferResult> {
  const { folder, now, maxBytes = MAX_TRANSFER_BYTES, maxSeconds = MAX_TRANSFER_SECONDS } = transfers
  const timeout = AbortSignal.timeout(maxSeconds * 1000)
  const idle = transfers.idleMs === undefined ? {} : { idleMs: transfers.idleMs }
  const limits = { ...idle, maxBytes, signal: AbortSignal.any([transfers.signal, timeout]) }
  const source = { zone, server, key, now }
  try {
    const serial = await zoneSerial(source, limits)
    const last = await readLastTransfer(folder, zone)
    if (last?.serial === serial && day < addDays(last.day, MAX_DAYS_UNCHANGED))
      return { zone, outcome: 'unchanged', serial }
    const blocks = transferZone(source, limits, (names) => transfers.onNames(zone, names))
    const transferred = await writeZoneFile(folder, file, blocks)
    await keepTransfer(folder, zone, { serial: transferred.serial, day })
    return { zone, outcome: 'fetched', file, ...transferred }
  } catch (error) {
    if (timeout.aborted && !transfers.signal.aborted)
      throw new InputError(`the transfer took more than ${maxSeconds} seconds`)
    throw error
  }
}

/** Writes a compressed file under a hidden name, and renames it when it is complete and on disk. */
async function writeZoneFile<Result>(
  folder: string,
  file: string,
  blocks: AsyncGenerator<Buffer, Result>,
): Promise<Result> {
  await removeParts(folder, file)
  const part = join(folder, `.${file}.transfer`)
  const ended: { result?: Result } = {}
  const gzip = createGzip({ level: 1 })
  pipeline(Readable.from(checkedBlocks(folder, blocks, ended)), gzip, () => {}) // the reader reports errors
  try {
    await writeDurably(part, gzip)
    await rename(part, join(folder, file))
    await syncFolder(folder)
    return ended.result!
  } catch (error) {
    await rm(part, { force: true })
    throw (error as NodeJS.ErrnoException).code === 'ENOSPC' ? noSpaceFault(folder) : error
  }
}

/** Passes the blocks on while the disk has space, and keeps their result. */
async function* checkedBlocks<Result>(
  folder: string,
  blocks: AsyncGenerator<Buffer, Result>,
  ended: { result?: Result },
): AsyncGenerator<Buffer> {
  for (let unchecked = CHECKED_BYTES; ; ) {
    if (unchecked >= CHECKED_BYTES) await requireFreeSpace(folder)
    unchecked %= CHECKED_BYTES
    const next = await blocks.next()
    if (next.done) {
      ended.result = next.value
      return
    }
    unchecked += next.value.length
    yield next.value
  }
}

/** Removes what a killed transfer of the same zone left behind. */
async function removeParts(folder: string, file: string): Promise<void> {
  const zone = file.slice(0, -'2026-11-23.zone.gz'.length)
  for (const entry of await readdir(folder))
    if (entry.startsWith(`.${zone}`) && /^\d{4}-\d\d-\d\d\.zone\.gz\.transfer$/.test(entry.slice(zone.length + 1)))
      await rm(join(folder, entry), { force: true })
}

async function requireFreeSpace(folder: string): Promise<void> {
  const { bavail, bsize } = await statfs(folder)
  if (bavail * bsize < MIN_FREE_BYTES) throw noSpaceFault(folder)
}

function noSpaceFault(folder: string): StorageError {
  return new StorageError(`the disk of ${folder} has less than 256 MiB free: free disk space`)
}

/** Returns null if the zone was never transferred, or its record is unreadable. */
async function readLastTransfer(folder: string, zone: string): Promise<LastTransfer | null> {
  const text = await readFile(serialPath(folder, zone), 'utf8').catch(nullIfMissing)
  try {
    return text === null ? null : (JSON.parse(text) as LastTransfer)
  } catch {
    return null
  }
}

async function keepTransfer(folder: string, zone: string, last: LastTransfer): Promise<void> {
  const path = serialPath(folder, zone)
  await rm(`${path}.new`, { force: true })
  await writeDurably(`${path}.new`, lineContent(JSON.stringify(last)))
  await rename(`${path}.new`, path)
}

function serialPath(folder: string, zone: string): string {
  return join(folder, SERIALS_FOLDER, `${zone}.json`)
}
