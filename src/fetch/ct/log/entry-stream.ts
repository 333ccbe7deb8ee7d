/** Reads log entries whose bytes arrive in pieces. A certificate that is too long to be used is hashed and dropped. */

import { createHash } from 'node:crypto'
import { MAX_CERTIFICATE_BYTES } from '../../../values/certificate/certificate-names.ts'
import {
  cutOff,
  ENTRY_HEAD_BYTES,
  HASHED_HEADER,
  KEY_HASH_BYTES,
  type LogEntry,
  parseEntryHead,
  requireChain,
  wrongEntryCount,
} from './log-entry.ts'

type OnBytes = (bytes: Buffer) => void

/** Yields the entries of a data tile. Throws LogFault unless there are `count`. */
export async function* streamDataTile(pieces: AsyncGenerator<Buffer>, count: number): AsyncGenerator<LogEntry> {
  try {
    yield* tileEntries(new PieceReader(pieces), count)
  } finally {
    await pieces.return(null)
  }
}

async function* tileEntries(bytes: PieceReader, count: number): AsyncGenerator<LogEntry> {
  for (let index = 0; index < count; index++) {
    if (await bytes.isAtEnd()) throw wrongEntryCount(count)
    const entry = await readTimestampedEntry(bytes)
    if (entry.isTbs) await bytes.skip(await readLength(bytes, 3, () => {}), () => {})
    const chainBytes = await readLength(bytes, 2, () => {})
    requireChain(chainBytes)
    await bytes.skip(chainBytes, () => {})
    yield entry
  }
  if (!(await bytes.isAtEnd())) throw wrongEntryCount(count)
}

/** Reads a TimestampedEntry. Throws LogFault if the pieces end within it. */
export async function readTimestampedEntry(bytes: PieceReader): Promise<LogEntry> {
  const leaf = createHash('sha256').update(HASHED_HEADER)
  let leafBytes = HASHED_HEADER.length
  const add: OnBytes = (piece) => {
    leafBytes += piece.length
    leaf.update(piece)
  }
  const head = await bytes.take(ENTRY_HEAD_BYTES, add)
  const { time, isTbs } = parseEntryHead(head, 0)
  if (isTbs) await bytes.skip(KEY_HASH_BYTES, add)
  const length = await readLength(bytes, 3, add)
  const isKept = length <= MAX_CERTIFICATE_BYTES
  const certificate = isKept ? await bytes.take(length, add) : null
  if (!isKept) await bytes.skip(length, add)
  await bytes.skip(await readLength(bytes, 2, add), add)
  return { hash: leaf.digest(), time, bytes: leafBytes, certificate, isTbs }
}

async function readLength(bytes: PieceReader, lengthBytes: number, onBytes: OnBytes): Promise<number> {
  return (await bytes.take(lengthBytes, onBytes)).readUIntBE(0, lengthBytes)
}

/** Reads bytes in their order from pieces of any length. */
export class PieceReader {
  readonly #pieces: AsyncIterator<Buffer>
  #piece: Buffer = Buffer.alloc(0)

  constructor(pieces: AsyncIterable<Buffer>) {
    this.#pieces = pieces[Symbol.asyncIterator]()
  }

  async isAtEnd(): Promise<boolean> {
    while (this.#piece.length === 0) {
      const next = await this.#pieces.next()
      if (next.done) return true
      this.#piece = next.value
    }
    return false
  }

  /** Returns the next bytes, and passes them on. Throws LogFault if there are fewer. */
  async take(count: number, onBytes: OnBytes): Promise<Buffer> {
    const parts: Buffer[] = []
    await this.skip(count, (part) => void parts.push(part))
    const bytes = parts.length === 1 ? parts[0]! : Buffer.concat(parts)
    onBytes(bytes)
    return bytes
  }

  /** Passes the next bytes on, and keeps none. Throws LogFault if there are fewer. */
  async skip(count: number, onBytes: OnBytes): Promise<void> {
    for (let left = count; left > 0; ) {
      if (await this.isAtEnd()) throw cutOff()
      const part = this.#piece.subarray(0, left)
      this.#piece = this.#piece.subarray(part.length)
      left -= part.length
      onBytes(part)
    }
  }
}
