/** Parses the entries of certificate logs (RFC 6962, section 3.4; static-ct-api, Log Entries). Pure. */

import { hash } from 'node:crypto'
import type { LoggedCertificate } from '../../../store/port/store.ts'
import { readCertificate } from '../../../values/certificate/certificate.ts'
import { certificateNames } from '../../../values/certificate/certificate-names.ts'
import { MalformedCertificate } from '../../../values/certificate/der.ts'
import { type DomainName, parseName, registrableDomainOrNull } from '../../../values/domain-name.ts'
import type { Instant } from '../../../values/time.ts'
import { LogFault } from '../log.ts'

/**
 * An entry. `hash`: of its leaf in the tree. `certificate`: the DER of a certificate, or of a TBSCertificate if `isTbs`;
 * a part of the bytes that were read, or null if it is too long to be kept. `bytes`: of the leaf.
 */
export type LogEntry = { hash: Buffer; time: Instant; bytes: number; certificate: Buffer | null; isTbs: boolean }

/** Of a leaf hash, and of a MerkleTreeLeaf: version 1, a timestamped entry. */
export const HASHED_HEADER = Buffer.from([0, 0, 0])
const X509_ENTRY = 0
const PRECERTIFICATE_ENTRY = 1
/** The time and the type of a TimestampedEntry. */
export const ENTRY_HEAD_BYTES = 10
export const KEY_HASH_BYTES = 32
const FINGERPRINT_BYTES = 32

/**
 * What several entries come to. `certificates`: without precertificates, whose fingerprint no website presents; null if
 * they are not kept. `newest`: the time of the last one. `bytes`: of their leaves.
 */
export type EntrySummary = {
  names: Set<DomainName>
  certificates: LoggedCertificate[] | null
  unusableNames: number
  unusableEntries: number
  entries: number
  bytes: number
  newest: Instant
}

export function emptySummary(keepsCertificates: boolean): EntrySummary {
  const certificates = keepsCertificates ? [] : null
  return { names: new Set(), certificates, unusableNames: 0, unusableEntries: 0, entries: 0, bytes: 0, newest: 0 }
}

/** Adds an entry and its registrable domains. */
export function addEntry(into: EntrySummary, { time, bytes, certificate, isTbs }: LogEntry): void {
  into.entries++
  into.bytes += bytes
  into.newest = time
  try {
    for (const text of certificate === null ? [] : certificateNames(certificate, isTbs)) {
      const name = parseName(text.startsWith('*.') ? text.slice(2) : text)
      const domain = name === null ? null : registrableDomainOrNull(name)
      if (domain === null) into.unusableNames++
      else if (!into.names.has(domain)) into.names.add(copyOf(domain))
    }
    if (certificate === null) into.unusableEntries++
    else if (into.certificates !== null && !isTbs) {
      const read = readCertificate(certificate)
      if (read !== null) into.certificates.push({ certificate: read, logged_at: time })
    }
  } catch (error) {
    if (!(error instanceof MalformedCertificate)) throw error
    into.unusableEntries++
  }
}

/** Adds what other entries, which follow, come to. */
export function addSummary(into: EntrySummary, other: EntrySummary): void {
  for (const name of other.names) into.names.add(name)
  into.certificates?.push(...(other.certificates ?? []))
  into.unusableNames += other.unusableNames
  into.unusableEntries += other.unusableEntries
  into.entries += other.entries
  into.bytes += other.bytes
  into.newest = other.newest
}

/** A part of a text keeps the whole text in memory, which can be much longer than a name. */
function copyOf(name: DomainName): DomainName {
  return Buffer.from(name, 'latin1').toString('latin1') as DomainName
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
    requireChain(chain - at - 2)
    at = chain
  }
  if (entries.length !== count || at !== tile.length) throw wrongEntryCount(count)
  return entries
}

/** Throws LogFault unless the bytes are those of fingerprints. */
export function requireChain(bytes: number): void {
  if (bytes % FINGERPRINT_BYTES !== 0) throw new LogFault('a data tile is malformed')
}

export function wrongEntryCount(count: number): LogFault {
  return new LogFault(`a data tile has another number of entries than ${count}`)
}

/** Parses the first ten bytes of a TimestampedEntry. Throws LogFault for an unknown type. */
export function parseEntryHead(bytes: Buffer, from: number): { time: Instant; isTbs: boolean } {
  const milliseconds = bytes.readUInt32BE(from) * 2 ** 32 + bytes.readUInt32BE(from + 4)
  const type = bytes.readUInt16BE(from + 8)
  if (type !== X509_ENTRY && type !== PRECERTIFICATE_ENTRY) throw new LogFault(`an entry has the unknown type ${type}`)
  return { time: Math.floor(milliseconds / 1000), isTbs: type === PRECERTIFICATE_ENTRY }
}

/** Parses a TimestampedEntry at an offset. `end`: the offset after it. */
function parseTimestampedEntry(bytes: Buffer, from: number): { entry: LogEntry; end: number } {
  if (from + ENTRY_HEAD_BYTES > bytes.length) throw cutOff()
  const { time, isTbs } = parseEntryHead(bytes, from)
  const start = from + ENTRY_HEAD_BYTES + (isTbs ? KEY_HASH_BYTES : 0)
  const certificateEnd = skipVector(bytes, start, 3)
  const end = skipVector(bytes, certificateEnd, 2)
  const leaf = Buffer.concat([HASHED_HEADER, bytes.subarray(from, end)])
  const certificate = bytes.subarray(start + 3, certificateEnd)
  return { entry: { hash: hash('sha256', leaf, 'buffer'), time, bytes: leaf.length, certificate, isTbs }, end }
}

/** Returns the offset after a vector whose length has `lengthBytes` bytes (RFC 8446, section 3.4). */
function skipVector(bytes: Buffer, from: number, lengthBytes: number): number {
  if (from + lengthBytes > bytes.length) throw cutOff()
  const end = from + lengthBytes + bytes.readUIntBE(from, lengthBytes)
  if (end > bytes.length) throw cutOff()
  return end
}

export function cutOff(): LogFault {
  return new LogFault('an entry is cut off')
}
