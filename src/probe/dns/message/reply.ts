/**
 * Parses the reply to a query from its bytes. The package dns-packet would lose dots inside labels, bytes that are not
 * text, and the canonical form of IPv6 addresses (RFC 5952).
 */

import { unpackAddress } from '../../../values/ip-address.ts'
import { followCnames } from '../../../values/records/cname-chain.ts'
import type { RecordType } from '../../../values/records/dns-record.ts'
import { adminEmail } from '../../../values/records/host-name.ts'
import { encodeTxtPart } from '../../../values/records/txt-part.ts'
import type { DnsFailure, ObservedRecord } from '../../probe-result.ts'
import { CLASS_IN, DNS_TYPE_CODES, type DnsQuery, HEADER_BYTES, NXDOMAIN_RCODE, OPT_TYPE_CODE } from './query.ts'
import { DnsMessageReader, MalformedMessage } from './wire-name.ts'

/**
 * `records`: the records at the end of the alias chain. `isWhole`: the server declared the answer complete instead of
 * stopping at an alias. `unknown`: the server does not support the query or its EDNS. `cut`: truncated, to be repeated
 * over TCP.
 */
export type DnsReply =
  | { outcome: 'records'; records: ObservedRecord[]; aliases: string[]; isWhole: boolean }
  | { outcome: 'nxdomain' }
  | { outcome: 'failed'; why: DnsFailure }
  | { outcome: 'unknown' }
  | { outcome: 'cut' }

const { SOA, NS, CNAME } = DNS_TYPE_CODES
const TRUNCATED_FLAG = 0x02
const AUTHORITATIVE_FLAG = 0x04
const RECURSION_AVAILABLE_FLAG = 0x80
const FAILURE_BY_RCODE: Readonly<Record<number, DnsFailure>> = { 2: 'servfail', 5: 'refused', 9: 'lame' }
/** FORMERR, NOTIMP. */
const NOT_SUPPORTED_RCODES = [1, 4]

const NO_TARGETS: ReadonlyMap<string, string> = new Map()

type OwnedRecord = { owner: string; record: ObservedRecord }
/**
 * `isAuthoritativeOrRecursive`: the server is authoritative or recursive (AA or RA), so its empty answer means that no
 * record exists.
 */
type ReplyHeader = {
  code: number
  isAuthoritativeOrRecursive: boolean
  answers: number
  authorities: number
  additionals: number
}

/** Parses a message that passed isAnswerTo. */
export function parseReply(message: Uint8Array, query: DnsQuery): DnsReply {
  try {
    if ((message[2]! & TRUNCATED_FLAG) !== 0) return { outcome: 'cut' }
    return interpretReply(message, query)
  } catch (error) {
    if (error instanceof MalformedMessage) return { outcome: 'failed', why: 'malformed' }
    throw error
  }
}

function interpretReply(message: Uint8Array, query: DnsQuery): DnsReply {
  const header = parseHeader(message)
  if (NOT_SUPPORTED_RCODES.includes(header.code)) return { outcome: 'unknown' }
  if (header.code !== 0 && header.code !== NXDOMAIN_RCODE)
    return { outcome: 'failed', why: FAILURE_BY_RCODE[header.code] ?? 'servfail' }
  const reader = new DnsMessageReader(message, query.end)
  const { found, targets } = readAnswers(reader, header.answers, query)
  const { owner, aliases } = resolveAliases(query.host, found, targets)
  const records: ObservedRecord[] = []
  for (const each of found) if (each.owner === owner) records.push(each.record)
  if (records.length > 0) return { outcome: 'records', records, aliases, isWhole: true }
  if (header.code === NXDOMAIN_RCODE) {
    return aliases.length > 0 ? { outcome: 'records', records, aliases, isWhole: true } : { outcome: 'nxdomain' }
  }
  return interpretEmptyReply(reader, header, aliases)
}

function parseHeader(message: Uint8Array): ReplyHeader {
  return {
    code: message[3]! & 15,
    isAuthoritativeOrRecursive:
      (message[2]! & AUTHORITATIVE_FLAG) !== 0 || (message[3]! & RECURSION_AVAILABLE_FLAG) !== 0,
    answers: (message[6]! << 8) | message[7]!,
    authorities: (message[8]! << 8) | message[9]!,
    additionals: (message[10]! << 8) | message[11]!,
  }
}

/** Returns the records of the queried type and the targets of aliases. Skips records of other types. */
function readAnswers(reader: DnsMessageReader, count: number, { host, type }: DnsQuery) {
  const found: OwnedRecord[] = []
  let targets: Map<string, string> | null = null
  for (let index = 0; index < count; index++) {
    const owner = readOwner(reader, host)
    const number = reader.uint16()
    const isInternet = reader.uint16() === CLASS_IN
    reader.offset += 4 // TTL
    const length = reader.uint16()
    const end = reader.offset + length
    if (end > reader.bytes.length) throw new MalformedMessage('unexpected end of message')
    if (isInternet && number === DNS_TYPE_CODES[type])
      found.push({ owner, record: RECORD_READERS[type](reader, length) })
    else if (isInternet && number === CNAME && !targets?.has(owner))
      targets = (targets ?? new Map<string, string>()).set(owner, reader.host())
    else reader.offset = end
    if (reader.offset !== end) throw new MalformedMessage('record length does not match its content')
  }
  return { found, targets: targets ?? NO_TARGETS }
}

/** Reads the owner of a record. Most owners are a pointer to the question. */
function readOwner(reader: DnsMessageReader, host: string): string {
  const { bytes, offset } = reader
  if (bytes[offset] !== 0xc0 || bytes[offset + 1] !== HEADER_BYTES) return reader.host()
  reader.offset += 2
  return host
}

/** Follows the aliases. Throws MalformedMessage if they loop. */
function resolveAliases(
  host: string,
  found: OwnedRecord[],
  targets: ReadonlyMap<string, string>,
): { owner: string; aliases: string[] } {
  if (targets.size === 0) return { owner: host, aliases: [] }
  const end = followCnames(host, new Set(found.map((each) => each.owner)), targets)
  if (end === null) throw new MalformedMessage('alias loop')
  return end
}

/**
 * Interprets a reply without an error and without records (RFC 2308, section 2.2). The host has no records if the reply
 * has an SOA, or if the server is authoritative or recursive. An authority section with only NS records is a referral.
 */
function interpretEmptyReply(reader: DnsMessageReader, header: ReplyHeader, aliases: string[]): DnsReply {
  const authorities = readAuthorityTypes(reader, header.authorities)
  if (readExtendedRcode(reader, header.additionals) !== 0) return { outcome: 'unknown' }
  const isWhole = aliases.length === 0 || authorities.has(SOA)
  const isReferral = authorities.has(NS) && !authorities.has(SOA)
  const isAuthoritativeOrRecursive =
    header.isAuthoritativeOrRecursive && !(isReferral && (reader.bytes[2]! & AUTHORITATIVE_FLAG) === 0)
  if (aliases.length === 0 && !isAuthoritativeOrRecursive && !authorities.has(SOA))
    return { outcome: 'failed', why: 'lame' }
  return { outcome: 'records', records: [], aliases, isWhole }
}

function readAuthorityTypes(reader: DnsMessageReader, count: number): Set<number> {
  const types = new Set<number>()
  for (let index = 0; index < count; index++) {
    reader.skipHost()
    types.add(reader.uint16())
    reader.take(6)
    reader.take(reader.uint16())
  }
  return types
}

/** The upper bits of the response code, from the OPT record (RFC 6891, section 6.1.3). */
function readExtendedRcode(reader: DnsMessageReader, count: number): number {
  let code = 0
  for (let index = 0; index < count; index++) {
    reader.skipHost()
    const isOption = reader.uint16() === OPT_TYPE_CODE
    reader.take(2)
    const upper = reader.byte()
    reader.take(3)
    reader.take(reader.uint16())
    if (isOption) code = upper
  }
  return code
}

const RECORD_READERS: { [T in RecordType]: (reader: DnsMessageReader, length: number) => ObservedRecord } = {
  A: (reader, length) => readAddress(reader, length, 4),
  AAAA: (reader, length) => readAddress(reader, length, 16),
  MX: (reader) => ({ priority: reader.uint16(), mail_server: reader.host() }),
  TXT: (reader, length) => readText(reader, length),
  NS: (reader) => reader.host(),
  SOA: (reader) => ({
    primary_nameserver: reader.host(),
    admin_email: adminEmail(reader.host()),
    serial: reader.uint32(),
    refresh_seconds: reader.uint32(),
    retry_seconds: reader.uint32(),
    expire_seconds: reader.uint32(),
    minimum_ttl_seconds: reader.uint32(),
  }),
  CNAME: (reader) => reader.host(),
}

function readAddress(reader: DnsMessageReader, length: number, expected: 4 | 16): ObservedRecord {
  if (length !== expected) throw new MalformedMessage('wrong length of an address')
  const bytes = reader.take(length)
  if (expected === 4) return `${bytes[0]}.${bytes[1]}.${bytes[2]}.${bytes[3]}`
  const packed = new Uint8Array(17)
  packed[0] = 6
  packed.set(bytes, 1)
  return unpackAddress(packed)
}

function readText(reader: DnsMessageReader, length: number): ObservedRecord {
  const end = reader.offset + length
  const parts: string[] = []
  while (reader.offset < end) parts.push(encodeTxtPart(reader.take(reader.byte())))
  if (parts.length === 0) throw new MalformedMessage('TXT record without a string')
  return parts
}
