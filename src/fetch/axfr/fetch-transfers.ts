/** Transfers zones into a folder, one at a time. A zone gets its final name when it is complete. */

import { readFile, rename, rm, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline, Readable } from 'node:stream'
import { createGzip } from 'node:zlib'
import { InputError, StorageError } from '../../import/stream/input-error.ts'
import { ensureFolder, nullIfMissing, syncFolder, writeDurably } from '../../jobs/file-store/durable.ts'
import { endWriter, newWriterName, removeLeftovers } from '../../jobs/file-store/leftovers.ts'
import { replaceJsonFile } from '../../registrations/folder.ts'
import { markComplete } from '../../registrations/inbox.ts'
import { addDays, type Day, dayOf, type Instant } from '../../values/time.ts'
import { type AnswerLimits, BrokenConnection, type TransferServer } from './connection.ts'
import { type TransferredZone, type TransferSource, transferZone, zoneSerial } from './transfer.ts'
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
  wait(milliseconds: number, signal: AbortSignal): Promise<unknown>
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
/** How often a transfer is attempted that breaks off, and the milliseconds to wait before the second attempt. */
const MAX_ATTEMPTS = 5
const RETRY_MS = 60_000
/** Minimum free disk space in bytes, checked at the beginning and after every CHECKED_BYTES. */
const MIN_FREE_BYTES = 2 ** 28
const CHECKED_BYTES = 2 ** 26
/** The folder within the folder of zones that keeps the serial of each zone, and incomplete zones. */
const TRANSFERS_FOLDER = 'transfers'

/** A failed zone does not stop the others. Throws StorageError if the disk is full. */
export async function fetchTransfers(transfers: ZoneTransfers): Promise<ZoneTransferResult[]> {
  const results: ZoneTransferResult[] = []
  const ownFolder = join(transfers.folder, TRANSFERS_FOLDER)
  await ensureFolder(ownFolder)
  await removeLeftovers(ownFolder, async () => [])
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
  const ended = new AbortController()
  const limits = { ...idle, maxBytes, signal: AbortSignal.any([transfers.signal, timeout, ended.signal]) }
  const source = { zone, server, key, now }
  try {
    const serial = await zoneSerial(source, limits)
    const former = await readLastTransfer(folder, zone)
    if (former?.serial === serial && day < addDays(former.day, MAX_DAYS_UNCHANGED))
      return { zone, outcome: 'unchanged', serial }
    const transferred = await transferToFile(transfers, source, { limits, file })
    const last: LastTransfer = { serial: transferred.serial, day }
    await replaceJsonFile(join(folder, TRANSFERS_FOLDER), `${zone}.json`, last)
    return { zone, outcome: 'fetched', file, ...transferred }
  } catch (error) {
    if (timeout.aborted && !transfers.signal.aborted)
      throw new InputError(`the transfer took more than ${maxSeconds} seconds`)
    throw error
  } finally {
    ended.abort() // if the file could not be written, the connection is still open
  }
}

/** Transfers a zone, and again after a while if the transfer broke off after it had started. */
async function transferToFile(
  { folder, wait, onNames }: ZoneTransfers,
  source: TransferSource,
  { limits, file }: { limits: AnswerLimits; file: string },
): Promise<TransferredZone> {
  for (let attempt = 1; ; attempt++) {
    let isStarted = false
    const blocks = transferZone(source, limits, (names) => {
      isStarted = true
      onNames(source.zone, names)
    })
    try {
      return await writeZoneFile(folder, file, blocks)
    } catch (error) {
      if (!(error instanceof BrokenConnection) || !isStarted || attempt === MAX_ATTEMPTS) throw error
      await wait(attempt * RETRY_MS, limits.signal)
    }
  }
}

/** Writes a compressed file under a name that no other process uses, and renames it when it is complete and on disk. */
async function writeZoneFile<Result>(
  folder: string,
  file: string,
  blocks: AsyncGenerator<Buffer, Result>,
): Promise<Result> {
  const part = join(folder, TRANSFERS_FOLDER, newWriterName(file))
  const ended: { result?: Result } = {}
  const gzip = createGzip({ level: 1 })
  pipeline(Readable.from(checkedBlocks(folder, blocks, ended)), gzip, () => {}) // the reader reports errors
  try {
    await writeDurably(part, gzip)
    await markComplete(part)
    await rename(part, join(folder, file))
    await syncFolder(folder)
    return ended.result!
  } catch (error) {
    await rm(part, { force: true })
    throw (error as NodeJS.ErrnoException).code === 'ENOSPC' ? noSpaceFault(folder) : error
  } finally {
    gzip.destroy()
    endWriter(part)
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

async function requireFreeSpace(folder: string): Promise<void> {
  const { bavail, bsize } = await statfs(folder)
  if (bavail * bsize < MIN_FREE_BYTES) throw noSpaceFault(folder)
}

function noSpaceFault(folder: string): StorageError {
  return new StorageError(`the disk of ${folder} has less than 256 MiB free: free disk space`)
}

/** Returns null if the zone was never transferred, or its record is unreadable. */
async function readLastTransfer(folder: string, zone: string): Promise<LastTransfer | null> {
  const text = await readFile(join(folder, TRANSFERS_FOLDER, `${zone}.json`), 'utf8').catch(nullIfMissing)
  try {
    return text === null ? null : (JSON.parse(text) as LastTransfer)
  } catch {
    return null
  }
}
