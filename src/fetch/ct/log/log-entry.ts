/** Parses the entries of certificate logs (RFC 6962, section 3.4; static-ct-api, Log Entries). Pure. */

import { hash } from 'node:crypto'
import { type DomainName, parseName, registrableDomainOrNull } from '../../../values/domain-name.ts'
import type { Instant } from '../../../values/time.ts'
import { LogFault } from '../log.ts'
import { certificateNames, MalformedCertificate } from './certificate-names.ts'

/**
 * An entry. `hash`: of its leaf in the tree. `certificate`: the DER of a certificate, or of a TBSCertificate if `isTbs`.
 */
export type LogEntry = { hash: Buffer; time: Instant; certificate: Buffer; isTbs: boolean }

/** Of a leaf hash, and of a MerkleTreeLeaf: version 1, a timestamped entry. */
const HASHED_HEADER = Buffer.from([0, 0, 0])
const X509_ENTRY = 0
const PRECERTIFICATE_ENTRY = 1
const KEY_HASH_BYTES = 32
const FINGERPRINT_BYTES = 32

/** What the names of several entries come to. */
export type EntryNames = { names: Set<DomainName>; unusableNames: number; unusableEntries: number }

/** Adds the registrable domains of an entry. */
export function addEntryNames(into: EntryNames, { certificate, isTbs }: LogEntry): void {
  try {
    for (const text of certificateNames(certificate, isTbs)) {
      const name = parseName(text.startsWith('*.') ? text.slice(2) : text)
      const domain = name === null ? null : registrableDomainOrNull(name)
      if (domain === null) into.unusableNames++
      else into.names.add(domain)
    }
  } catch (error) {
    if (!(error instanceof MalformedCertificate)) throw error
    into.unusableEntries++
  }
}

/** Parses a MerkleTreeLeaf, as get-entries sends it. Throws LogFault if its outer form is wrong. */
export function parseLeafInput(leaf: Buffer): LogEntry {
  if (leaf.length < 2 || leaf[0] !== 0 || leaf[1] !== 0) throw new LogFault('an entry is not of version 1')
  const { entry, end } = parseTimestampedEntry(leaf, 2)
  if (end !== leaf.length) throw new LogFault('bytes follow an entry')
  return entry
}

/** Parses the entries of a data tile. Throws LogFault unless there are `count`. */
export function parseDataTile(tile: Buffer, count: number): LogEntry[] {
  const entries: LogEntry[] = []
  let at = 0
  while (at < tile.length && entries.length <= count) {
    const { entry, end } = parseTimestampedEntry(tile, at)
    entries.push(entry)
    at = entry.isTbs ? skipVector(tile, end, 3) : end
    const chain = skipVector(tile, at, 2)
    if ((chain - at - 2) % FINGERPRINT_BYTES !== 0) throw new LogFault('a data tile is malformed')
    at = chain
  }
  if (entries.length !== count || at !== tile.length)
    throw new LogFault(`a data tile has another number of entries than ${count}`)
  return entries
}

/** Parses a TimestampedEntry at an offset. `end`: the offset after it. */
function parseTimestampedEntry(bytes: Buffer, from: number): { entry: LogEntry; end: number } {
  if (from + 10 > bytes.length) throw new LogFault('an entry is cut off')
  const milliseconds = bytes.readUInt32BE(from) * 2 ** 32 + bytes.readUInt32BE(from + 4)
  const type = bytes.readUInt16BE(from + 8)
  if (type !== X509_ENTRY && type !== PRECERTIFICATE_ENTRY) throw new LogFault(`an entry has the unknown type ${type}`)
  const isTbs = type === PRECERTIFICATE_ENTRY
  const start = from + 10 + (isTbs ? KEY_HASH_BYTES : 0)
  const certificateEnd = skipVector(bytes, start, 3)
  const end = skipVector(bytes, certificateEnd, 2)
  const leaf = Buffer.concat([HASHED_HEADER, bytes.subarray(from, end)])
  const certificate = bytes.subarray(start + 3, certificateEnd)
  const time = Math.floor(milliseconds / 1000)
  return { entry: { hash: hash('sha256', leaf, 'buffer'), time, certificate, isTbs }, end }
}

/** Returns the offset after a vector whose length has `lengthBytes` bytes (RFC 8446, section 3.4). */
function skipVector(bytes: Buffer, from: number, lengthBytes: number): number {
  if (from + lengthBytes > bytes.length) throw new LogFault('an entry is cut off')
  const end = from + lengthBytes + bytes.readUIntBE(from, lengthBytes)
  if (end > bytes.length) throw new LogFault('an entry is cut off')
  return end
}
