/**
 * A log with the interface of RFC 6962 (section 4): get-sth, get-entries, whose leaves it reads while they arrive, and
 * proofs.
 */

import { MAX_CERTIFICATE_BYTES } from '../../../values/certificate/certificate-names.ts'
import { type CertificateLog, LogFault, type LogState, LogUnavailable } from '../log.ts'
import type { Slots } from '../slots.ts'
import {
  type EntrySource,
  MAX_KEPT_CERTIFICATE_BYTES,
  MAX_NAMES_IN_MEMORY,
  type VerifiedEntries,
} from './entry-source.ts'
import { PieceReader, readTimestampedEntry } from './entry-stream.ts'
import type { LogClient, LogGet } from './log-client.ts'
import { addEntry, cutOff, type EntrySummary, emptySummary, type LogEntry, parseLeafInput } from './log-entry.ts'
import { CompactRange, isConsistent, rangeBefore } from './merkle-tree.ts'
import { parseSignedTreeHead, type TreeHead } from './tree-head.ts'

const LEAF_KEY = Buffer.from('"leaf_input"')
const QUOTE = Buffer.from('"')

/** Characters of a leaf that is decoded at once. */
const MAX_TEXT = Math.ceil((MAX_CERTIFICATE_BYTES * 4) / 3) + 1_024

/** `\u0000`. */
const ESCAPE_LENGTH = 6
const SHORT_TEXT = 4_096

/** The part of a text that was received and not used yet. */
class TextWindow {
  readonly #pieces: AsyncIterator<Buffer>
  #bytes: Buffer = Buffer.alloc(0)

  constructor(pieces: AsyncIterator<Buffer>) {
    this.#pieces = pieces
  }

  /** Skips a text and everything before it. Returns false if it does not occur. */
  async skipPast(text: Buffer): Promise<boolean> {
    for (;;) {
      const at = this.#bytes.indexOf(text)
      if (at >= 0) {
        this.#bytes = this.#bytes.subarray(at + text.length)
        return true
      }
      this.#bytes = this.#bytes.subarray(Math.max(0, this.#bytes.length - text.length + 1))
      if (!(await this.#receive())) return false
    }
  }

  /** Returns the text before `end` and skips both, or returns null if it has more than `max` characters. */
  async takeUntil(end: Buffer, max: number): Promise<string | null> {
    for (let from = 0; ; ) {
      const at = this.#bytes.indexOf(end, from)
      if (at >= 0) return this.#take(at, end.length).toString('latin1')
      if (this.#bytes.length > max) return null
      from = this.#bytes.length
      if (!(await this.#receive())) throw cutOff()
    }
  }

  /** Returns what was received of the text before `end`, at least one character of it or its end. */
  async takePart(end: Buffer): Promise<{ text: Buffer; isEnd: boolean }> {
    if (this.#bytes.length === 0 && !(await this.#receive())) throw cutOff()
    const at = this.#bytes.indexOf(end)
    const isEnd = at >= 0
    return { text: this.#take(isEnd ? at : this.#bytes.length, isEnd ? end.length : 0), isEnd }
  }

  #take(length: number, skipped: number): Buffer {
    const text = this.#bytes.subarray(0, length)
    this.#bytes = this.#bytes.subarray(length + skipped)
    return text
  }

  /** Returns false at the end of the text. */
  async #receive(): Promise<boolean> {
    const next = await this.#pieces.next()
    if (next.done) return false
    this.#bytes = this.#bytes.length === 0 ? next.value : Buffer.concat([this.#bytes, next.value])
    return true
  }
}

/** Of a response of get-entries: one entry and its chain can have so many, and they pass through in pieces. */
const MAX_ENTRIES_BYTES = 2 ** 26
/** Of any other response. */
const MAX_RESPONSE_BYTES = 65_536
/** Entries that a request asks for. A log may return fewer. */
const ENTRIES_PER_REQUEST = 1_000
/** Entries, and bytes of them, after which their tree is proved to be part of the tree of the head. */
const ENTRIES_PER_PROOF = 4_000
const BYTES_PER_PROOF = 2 ** 25
const MAX_PROOF_HASHES = 64
/** Entries that are tried as the first one, because a proof names an earlier entry if it is there twice. */
const MAX_START_TRIES = 16

export function openRfc6962Source(log: CertificateLog, client: LogClient, keepsCertificates: boolean): EntrySource {
  const { get } = client
  const call = callerOf(log, get)
  const read: ReadEntries = (from, end) => readEntries(log, client, from, end)
  return {
    async head() {
      const bytes = await get(`${log.url}ct/v1/get-sth`, MAX_RESPONSE_BYTES)
      if (bytes === null) throw new LogFault('it has no tree head')
      return parseSignedTreeHead(log, bytes.toString('utf8'))
    },
    async requireConsistency({ size, root }, head) {
      const isSame = size === head.size || size === 0
      const proof = isSame ? [] : (await call(`get-sth-consistency?first=${size}&second=${head.size}`)).consistency
      if (!isConsistent([size, Buffer.from(root, 'base64')], [head.size, head.root], proofHashes(proof)))
        throw new LogFault(`its tree of ${head.size} entries does not begin with its former tree of ${size}`)
    },
    async startAt(position, head) {
      const range = await startRange(call, read, position, head)
      return { position: range.size, hashes: range.hashes.map((hash) => hash.toString('base64')) }
    },
    async *entries(from, head) {
      const range = rangeOfState(from)
      while (range.size < head.size) {
        const summary = emptySummary(keepsCertificates)
        while (range.size < head.size && !isFull(summary))
          for await (const entry of read(range.size, head.size)) {
            range.add(entry.hash)
            addEntry(summary, entry)
            if (isFull(summary)) break
          }
        await requireProof(call, range, head)
        yield { summary, hashes: range.hashes.map((hash) => hash.toString('base64')) } satisfies VerifiedEntries
      }
    },
  }
}

/** Whether the entries have to be proved before further ones are read. */
function isFull({ entries, bytes, names, certificates }: EntrySummary): boolean {
  const maxBytes = certificates === null ? BYTES_PER_PROOF : MAX_KEPT_CERTIFICATE_BYTES
  return entries >= ENTRIES_PER_PROOF || bytes >= maxBytes || names.size >= MAX_NAMES_IN_MEMORY
}

/** Yields at least one entry from `from` on, before `end`. */
type ReadEntries = (from: number, end: number) => AsyncGenerator<LogEntry>
type LogCall = (path: string) => Promise<Record<string, unknown>>

function callerOf(log: CertificateLog, get: LogGet): LogCall {
  return async (path) => {
    const bytes = await get(`${log.url}ct/v1/${path}`, MAX_RESPONSE_BYTES)
    if (bytes === null) throw new LogUnavailable(`${log.url}ct/v1/${path} does not exist`)
    return parseObject(bytes)
  }
}

/** Throws LogFault unless the tree of the head begins with a range. */
async function requireProof(call: LogCall, range: CompactRange, head: TreeHead): Promise<void> {
  const isEnd = range.size === head.size
  const proof = isEnd ? [] : (await call(`get-sth-consistency?first=${range.size}&second=${head.size}`)).consistency
  if (!isConsistent([range.size, range.root()], [head.size, head.root], proofHashes(proof)))
    throw new LogFault(`its first ${range.size} entries do not fit its tree head of ${head.size} entries`)
}

/** Returns the compact range of the entries before a position, by the audit path of the entry there. */
async function startRange(call: LogCall, read: ReadEntries, position: number, head: TreeHead): Promise<CompactRange> {
  if (position === 0) return new CompactRange()
  const tries: Buffer[] = []
  for await (const entry of read(position, Math.min(head.size, position + MAX_START_TRIES))) tries.push(entry.hash)
  for (const [offset, leaf] of tries.entries()) {
    const index = position + offset
    const hash = encodeURIComponent(leaf.toString('base64'))
    const proof = await call(`get-proof-by-hash?hash=${hash}&tree_size=${head.size}`)
    if (proof.leaf_index !== index) continue
    const range = rangeBefore(index, leaf, [head.size, head.root], proofHashes(proof.audit_path))
    if (range === null) throw new LogFault(`its proof of entry ${index} does not fit its tree head`)
    return range
  }
  throw new LogUnavailable(`it proves no entry from ${position} on`)
}

async function* readEntries(
  log: CertificateLog,
  { stream, longReads }: LogClient,
  from: number,
  end: number,
): AsyncGenerator<LogEntry> {
  const last = Math.min(end, from + ENTRIES_PER_REQUEST) - 1
  const url = `${log.url}ct/v1/get-entries?start=${from}&end=${last}`
  const pieces = await stream(url, MAX_ENTRIES_BYTES)
  if (pieces === null) throw new LogUnavailable(`${url} does not exist`)
  let next = from
  for await (const entry of readLeaves(pieces, longReads)) {
    if (next++ > last) break
    yield entry
  }
  if (next === from || next > last + 1) throw new LogFault(`it does not return the entries from ${from} to ${last}`)
}

/** Throws LogFault unless it is a list of hashes in base64. */
function proofHashes(value: unknown): Buffer[] {
  if (!Array.isArray(value) || value.length > MAX_PROOF_HASHES || !value.every((each) => typeof each === 'string'))
    throw new LogFault('a proof is malformed')
  return value.map((each: string) => Buffer.from(each, 'base64'))
}

function rangeOfState({ position, hashes }: Pick<LogState, 'position' | 'hashes'>): CompactRange {
  return new CompactRange(
    position,
    hashes.map((hash) => Buffer.from(hash, 'base64')),
  )
}

function parseObject(bytes: Buffer): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(bytes.toString('utf8'))
    if (typeof value === 'object' && value !== null) return value as Record<string, unknown>
  } catch {
    // reported below
  }
  throw new LogFault('a response is not JSON')
}

/** A long leaf waits for one of `longReads`. Throws LogFault if a leaf is malformed. */
export async function* readLeaves(pieces: AsyncGenerator<Buffer>, longReads: Slots): AsyncGenerator<LogEntry> {
  const text = new TextWindow(pieces)
  try {
    while (await text.skipPast(LEAF_KEY)) {
      if (!(await text.skipPast(QUOTE))) throw cutOff()
      const leaf = await text.takeUntil(QUOTE, MAX_TEXT)
      yield leaf === null ? await readLongLeaf(text, longReads) : parseLeafInput(Buffer.from(unescaped(leaf), 'base64'))
    }
  } finally {
    await pieces.return(null)
  }
}

async function readLongLeaf(text: TextWindow, longReads: Slots): Promise<LogEntry> {
  const release = await longReads.take()
  try {
    const bytes = new PieceReader(decodedPieces(text))
    const [version, type] = await bytes.take(2, () => {})
    if (version !== 0 || type !== 0) throw new LogFault('an entry is not of version 1')
    const entry = await readTimestampedEntry(bytes)
    if (!(await bytes.isAtEnd())) throw new LogFault('bytes follow an entry')
    return entry
  } finally {
    release()
  }
}

/** Decodes base64 up to the next quote, by short strings, because long ones make the heap grow. */
async function* decodedPieces(text: TextWindow): AsyncGenerator<Buffer> {
  for (let [rest, isEnd]: [Buffer, boolean] = [Buffer.alloc(0), false]; !isEnd; ) {
    const part = await text.takePart(QUOTE)
    isEnd = part.isEnd
    let base64 = rest.length === 0 ? part.text : Buffer.concat([rest, part.text])
    const backslash = base64.lastIndexOf('\\')
    const isCut = !isEnd && backslash >= 0 && backslash > base64.length - ESCAPE_LENGTH
    rest = base64.subarray(isCut ? backslash : base64.length)
    base64 = base64.subarray(0, base64.length - rest.length)
    if (backslash >= 0) base64 = Buffer.from(unescaped(base64.toString('latin1')))
    const whole = isEnd ? base64.length : base64.length - (base64.length % 4)
    rest = Buffer.concat([base64.subarray(whole), rest])
    yield decodeBase64(base64.subarray(0, whole))
  }
}

function decodeBase64(base64: Buffer): Buffer {
  const bytes = Buffer.allocUnsafe(Math.ceil((base64.length * 3) / 4))
  let length = 0
  for (let at = 0; at < base64.length; at += SHORT_TEXT)
    length += bytes.write(base64.toString('latin1', at, at + SHORT_TEXT), length, 'base64')
  return bytes.subarray(0, length)
}

/** The characters of base64 that JSON allows to be escaped. */
function unescaped(text: string): string {
  if (!text.includes('\\')) return text
  return text.replaceAll(/\\u00([\da-f]{2})|\\(.)/gi, (_, code?: string, character = '') =>
    code === undefined ? character : String.fromCharCode(Number.parseInt(code, 16)),
  )
}
