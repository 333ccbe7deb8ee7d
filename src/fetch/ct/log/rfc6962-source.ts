/** A log with the interface of RFC 6962 (section 4): get-sth, get-entries and proofs. */

import { type CertificateLog, LogFault, type LogState, LogUnavailable } from '../log.ts'
import type { EntrySource, VerifiedEntries } from './entry-source.ts'
import type { LogGet } from './log-client.ts'
import { type LogEntry, parseLeafInput } from './log-entry.ts'
import { CompactRange, isConsistent, rangeBefore } from './merkle-tree.ts'
import { parseSignedTreeHead, type TreeHead } from './tree-head.ts'

const MAX_RESPONSE_BYTES = 2 ** 26
/** Entries that a request asks for. A log may return fewer. */
const ENTRIES_PER_REQUEST = 1_000
/** Entries after which their tree is proved to be part of the tree of the head. */
const ENTRIES_PER_PROOF = 4_000
const MAX_PROOF_HASHES = 64
/** Entries that are tried as the first one, because a proof names an earlier entry if it is there twice. */
const MAX_START_TRIES = 16

export function openRfc6962Source(log: CertificateLog, get: LogGet): EntrySource {
  const call = callerOf(log, get)
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
      const range = await startRange(call, position, head)
      return { position: range.size, hashes: range.hashes.map((hash) => hash.toString('base64')) }
    },
    async *entries(from, head) {
      const range = rangeOfState(from)
      while (range.size < head.size) {
        const batch: LogEntry[] = []
        while (range.size < head.size && batch.length < ENTRIES_PER_PROOF) {
          const found = await readEntries(call, range.size, head.size)
          for (const entry of found) range.add(entry.hash)
          batch.push(...found)
        }
        await requireProof(call, range, head)
        yield { entries: batch, hashes: range.hashes.map((hash) => hash.toString('base64')) } satisfies VerifiedEntries
      }
    },
  }
}

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
async function startRange(call: LogCall, position: number, head: TreeHead): Promise<CompactRange> {
  if (position === 0) return new CompactRange()
  for (const entry of (await readEntries(call, position, head.size)).slice(0, MAX_START_TRIES).keys()) {
    const index = position + entry
    const [found] = await readEntries(call, index, index + 1)
    const hash = encodeURIComponent(found!.hash.toString('base64'))
    const proof = await call(`get-proof-by-hash?hash=${hash}&tree_size=${head.size}`)
    if (proof.leaf_index !== index) continue
    const range = rangeBefore(index, found!.hash, [head.size, head.root], proofHashes(proof.audit_path))
    if (range === null) throw new LogFault(`its proof of entry ${index} does not fit its tree head`)
    return range
  }
  throw new LogUnavailable(`it proves no entry from ${position} on`)
}

/** Returns at least one entry from `from` on, before `end`. */
async function readEntries(call: LogCall, from: number, end: number): Promise<LogEntry[]> {
  const last = Math.min(end, from + ENTRIES_PER_REQUEST) - 1
  const { entries } = await call(`get-entries?start=${from}&end=${last}`)
  if (!Array.isArray(entries) || entries.length === 0 || entries.length > last - from + 1)
    throw new LogFault(`it does not return the entries from ${from} to ${last}`)
  return entries.map((entry: unknown) => {
    const { leaf_input: leaf } = (entry ?? {}) as { leaf_input?: unknown }
    if (typeof leaf !== 'string') throw new LogFault('an entry has no leaf')
    return parseLeafInput(Buffer.from(leaf, 'base64'))
  })
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
