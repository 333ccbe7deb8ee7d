/** Transfers zones into a folder, one at a time. A zone gets its final name when it is complete. */

import { randomInt } from 'node:crypto'
import { readFile, rename, rm, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline, Readable } from 'node:stream'
import { createGzip } from 'node:zlib'
import { InputError, StorageError } from '../../import/stream/input-error.ts'
import { ensureFolder, nullIfMissing, syncFolder, writeDurably } from '../../jobs/file-store/durable.ts'
import { endWriter, newWriterName, removeLeftovers } from '../../jobs/file-store/leftovers.ts'
import { DNS_TYPE_CODES } from '../../probe/dns/message/query.ts'
import { replaceJsonFile } from '../../registrations/folder.ts'
import { markComplete } from '../../registrations/inbox.ts'
import { addDays, type Day, dayOf, type Instant } from '../../values/time.ts'
import { type AnswerLimits, answerMessages, BrokenConnection, type TransferServer } from './connection.ts'
import { TransferReader } from './transfer-reader.ts'
import { signQuery, type TsigKey, TsigVerifier, transferQuery } from './tsig.ts'

const AXFR_TYPE_CODE = 252
const MAX_SERIAL_ANSWER_BYTES = 65_537

/**
 * `zone`: in lower case without a final dot. `key`: null for an unsigned transfer. `now`: the clock of this machine.
 */
type TransferSource = { zone: string; server: TransferServer; key: TsigKey | null; now: () => Instant }

/** A complete transfer. `names`: delegations. */
type TransferredZone = { serial: number; names: number }

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
/**
 * A zone is transferred after this many days even if its serial has not moved, so that it can be compared (contract).
 */
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

/** Returns the serial of the zone at the server. Throws InputError if the server does not answer for the zone. */
async function zoneSerial(source: TransferSource, limits: Omit<AnswerLimits, 'maxBytes'>): Promise<number> {
  const { reader, query } = startAnswer(source, DNS_TYPE_CODES.SOA, () => {})
  for await (const [message] of answerMessages(source.server, query, {
    ...limits,
    maxBytes: MAX_SERIAL_ANSWER_BYTES,
  })) {
    reader.push(message!)
    if (reader.serial !== null) return reader.serial
    break
  }
  throw new InputError('the server does not answer with the SOA of the zone')
}

/**
 * Transfers the zone: yields the blocks of its master file, and returns its summary. Throws BrokenConnection if the
 * transfer ends before the closing SOA, and InputError if anything in it is wrong.
 */
async function* transferZone(
  source: TransferSource,
  limits: AnswerLimits,
  onNames: (names: number) => void,
): AsyncGenerator<Buffer, TransferredZone> {
  const blocks: Buffer[] = []
  const { reader, query } = startAnswer(source, AXFR_TYPE_CODE, (block) => blocks.push(block))
  for await (const messages of answerMessages(source.server, query, limits)) {
    for (const message of messages) {
      if (reader.isWhole) throw new InputError('messages follow the closing SOA')
      reader.push(message)
    }
    yield* blocks.splice(0)
    onNames(reader.names)
    if (reader.isWhole) return { serial: reader.serial!, names: reader.names }
  }
  throw new BrokenConnection('the server ended the transfer before its end')
}

function startAnswer(
  { zone, key, now }: TransferSource,
  typeCode: number,
  onBlock: (block: Buffer) => void,
): { reader: TransferReader; query: Buffer } {
  const id = randomInt(65_536)
  const plain = transferQuery(zone, typeCode, id)
  if (key === null) return { reader: new TransferReader({ id, zone, verifier: null }, onBlock), query: plain }
  const { message, mac } = signQuery(plain, key, now())
  const verifier = new TsigVerifier(key, mac, now)
  return { reader: new TransferReader({ id, zone, verifier }, onBlock), query: message }
}
