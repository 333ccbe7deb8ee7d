/** What a message says to a question, read from its bytes: dns-packet loses dots inside labels, odd bytes and RFC 5952. */

import { unpackAddress } from '../words/address.ts'
import { followAliases } from '../words/alias.ts'
import { adminEmail, type RecordType, textPart } from '../words/record.ts'
import { Malformed, Reader } from './dns-name.ts'
import { CLASS_IN, HEADER_BYTES, NXDOMAIN, OPT, type Query, TYPE_NUMBERS } from './dns-query.ts'
import type { Failure, GivenRecord } from './visit.ts'

export { MOST_ALIASES } from '../words/alias.ts'

/**
 * `records`: what the end of the alias chain has; `isWhole`: whether the server said that this is all, and did not just
 * stop at an alias. `unknown`: it does not understand the question (or its EDNS). `cut`: to be asked again over TCP.
 */
export type Said =
  | { outcome: 'records'; records: GivenRecord[]; aliases: string[]; isWhole: boolean }
  | { outcome: 'nxdomain' }
  | { outcome: 'failed'; why: Failure }
  | { outcome: 'unknown' }
  | { outcome: 'cut' }

const { SOA, NS, CNAME } = TYPE_NUMBERS
const CUT = 0x02
const AUTHORITATIVE = 0x04
const RECURSIVE = 0x80
const FAILURES: Readonly<Record<number, Failure>> = { 2: 'servfail', 5: 'refused', 9: 'lame' }
/** Not readable, not implemented. */
const UNKNOWN = [1, 4]

type Found = { owner: string; record: GivenRecord }
/** `vouches`: the server has authority, or has asked those who have (AA or RA), so that nothing in its answer means nothing there. */
type Header = { code: number; vouches: boolean; answers: number; authorities: number; additionals: number }

/** Reads a message that isAnswerTo has let pass. */
export function readAnswer(message: Uint8Array, query: Query): Said {
  try {
    if ((message[2]! & CUT) !== 0) return { outcome: 'cut' }
    return judge(message, query)
  } catch (error) {
    if (error instanceof Malformed) return { outcome: 'failed', why: 'malformed' }
    throw error
  }
}

function judge(message: Uint8Array, query: Query): Said {
  const header = readHeader(message)
  if (UNKNOWN.includes(header.code)) return { outcome: 'unknown' }
  if (header.code !== 0 && header.code !== NXDOMAIN)
    return { outcome: 'failed', why: FAILURES[header.code] ?? 'servfail' }
  const reader = new Reader(message, query.end)
  const { found, targets } = readAnswers(reader, header.answers, query)
  const { owner, aliases } = follow(query.host, found, targets)
  const records: GivenRecord[] = []
  for (const each of found) if (each.owner === owner) records.push(each.record)
  if (records.length > 0) return { outcome: 'records', records, aliases, isWhole: true }
  if (header.code === NXDOMAIN) {
    return aliases.length > 0 ? { outcome: 'records', records, aliases, isWhole: true } : { outcome: 'nxdomain' }
  }
  return judgeEmpty(reader, header, aliases)
}

function readHeader(message: Uint8Array): Header {
  return {
    code: message[3]! & 15,
    vouches: (message[2]! & AUTHORITATIVE) !== 0 || (message[3]! & RECURSIVE) !== 0,
    answers: (message[6]! << 8) | message[7]!,
    authorities: (message[8]! << 8) | message[9]!,
    additionals: (message[10]! << 8) | message[11]!,
  }
}

/** The records of the type that was asked for, and where the aliases lead. Those of other types are passed by. */
function readAnswers(reader: Reader, count: number, { host, type }: Query) {
  const found: Found[] = []
  const targets = new Map<string, string>()
  for (let index = 0; index < count; index++) {
    const owner = readOwner(reader, host)
    const number = reader.short()
    const isInternet = reader.short() === CLASS_IN
    reader.at += 4 // its time to live
    const length = reader.short()
    const end = reader.at + length
    if (end > reader.bytes.length) throw new Malformed('ends too soon')
    if (isInternet && number === TYPE_NUMBERS[type]) found.push({ owner, record: READ[type](reader, length) })
    else if (isInternet && number === CNAME && !targets.has(owner)) targets.set(owner, reader.host())
    else reader.at = end
    if (reader.at !== end) throw new Malformed('a record that does not end where it says')
  }
  return { found, targets }
}

/** Most owners are a pointer to the question. */
function readOwner(reader: Reader, host: string): string {
  const { bytes, at } = reader
  if (bytes[at] !== 0xc0 || bytes[at + 1] !== HEADER_BYTES) return reader.host()
  reader.at += 2
  return host
}

/** Where the aliases lead. Throws Malformed for a loop. */
function follow(host: string, found: Found[], targets: Map<string, string>): { owner: string; aliases: string[] } {
  if (targets.size === 0) return { owner: host, aliases: [] }
  const end = followAliases(host, new Set(found.map((each) => each.owner)), targets)
  if (end === null) throw new Malformed('aliases that lead in a circle')
  return end
}

/**
 * No error and no record (RFC 2308, chapter 2.2): the host has none where the server says so with an SOA or stands for its
 * answer; name servers alone, and nothing that nobody stands for, are a referral.
 */
function judgeEmpty(reader: Reader, header: Header, aliases: string[]): Said {
  const authorities = readTypes(reader, header.authorities)
  if (readCode(reader, header.additionals) !== 0) return { outcome: 'unknown' }
  const isWhole = aliases.length === 0 || authorities.has(SOA)
  const isReferral = authorities.has(NS) && !authorities.has(SOA)
  const vouches = header.vouches && !(isReferral && (reader.bytes[2]! & AUTHORITATIVE) === 0)
  if (aliases.length === 0 && !vouches && !authorities.has(SOA)) return { outcome: 'failed', why: 'lame' }
  return { outcome: 'records', records: [], aliases, isWhole }
}

function readTypes(reader: Reader, count: number): Set<number> {
  const types = new Set<number>()
  for (let index = 0; index < count; index++) {
    reader.skipHost()
    types.add(reader.short())
    reader.take(6)
    reader.take(reader.short())
  }
  return types
}

/** The upper bits of the response code, which stand in the OPT record (RFC 6891, chapter 6.1.3). */
function readCode(reader: Reader, count: number): number {
  let code = 0
  for (let index = 0; index < count; index++) {
    reader.skipHost()
    const isOption = reader.short() === OPT
    reader.take(2)
    const upper = reader.byte()
    reader.take(3)
    reader.take(reader.short())
    if (isOption) code = upper
  }
  return code
}

const READ: { [T in RecordType]: (reader: Reader, length: number) => GivenRecord } = {
  A: (reader, length) => readAddress(reader, length, 4),
  AAAA: (reader, length) => readAddress(reader, length, 16),
  MX: (reader) => ({ priority: reader.short(), mail_server: reader.host() }),
  TXT: (reader, length) => readText(reader, length),
  NS: (reader) => reader.host(),
  SOA: (reader) => ({
    primary_nameserver: reader.host(),
    admin_email: adminEmail(reader.host()),
    serial: reader.long(),
    refresh_seconds: reader.long(),
    retry_seconds: reader.long(),
    expire_seconds: reader.long(),
    minimum_ttl_seconds: reader.long(),
  }),
  CNAME: (reader) => reader.host(),
}

function readAddress(reader: Reader, length: number, expected: 4 | 16): GivenRecord {
  if (length !== expected) throw new Malformed('an address of another length')
  const bytes = reader.take(length)
  if (expected === 4) return `${bytes[0]}.${bytes[1]}.${bytes[2]}.${bytes[3]}`
  const packed = new Uint8Array(17)
  packed[0] = 6
  packed.set(bytes, 1)
  return unpackAddress(packed)
}

function readText(reader: Reader, length: number): GivenRecord {
  const end = reader.at + length
  const parts: string[] = []
  while (reader.at < end) parts.push(textPart(reader.take(reader.byte())))
  if (parts.length === 0) throw new Malformed('a text without a part')
  return parts
}
