/** DNS records in the form of the API, and the canonical set of records of one type. */

import { compareBytewise } from '../bytewise-order.ts'
import { addressFamily, compareAddresses, type IpAddress, parseAddress } from '../ip-address.ts'
import { isObject } from '../json-object.ts'
import { parseHostName } from './host-name.ts'
import { canonicalTxtPart } from './txt-part.ts'

/** The seven types in the order of the specification. */
export const RECORD_TYPES = ['A', 'AAAA', 'MX', 'TXT', 'NS', 'SOA', 'CNAME'] as const
export type RecordType = (typeof RECORD_TYPES)[number]

export type ARecord = { ipv4_address: IpAddress }
export type AAAARecord = { ipv6_address: IpAddress }
export type MXRecord = { priority: number; mail_server: string }
export type TXTRecord = { text: string; parts: string[] }
export type NSRecord = { nameserver: string }
export type CNAMERecord = { target: string }
/** `minimum_ttl_seconds` is missing if it was not reported. */
export type SOARecord = {
  primary_nameserver: string
  admin_email: string
  serial: number
  refresh_seconds: number
  retry_seconds: number
  expire_seconds: number
  minimum_ttl_seconds?: number
}

type RecordByType = {
  A: ARecord
  AAAA: AAAARecord
  MX: MXRecord
  TXT: TXTRecord
  NS: NSRecord
  SOA: SOARecord
  CNAME: CNAMERecord
}
/** The set of records of each type. */
export type RecordsByType = { [T in RecordType]: RecordByType[T][] }
export type AnyRecord = RecordByType[RecordType]

/**
 * Rules for one record type. `isSingle`: a name has at most one. `read` returns the record, or the reason why it is
 * invalid as text.
 */
type RecordRule<R> = {
  max: number
  isSingle: boolean
  read: (input: unknown) => R | string
  compare: (a: R, b: R) => number
}

const RECORD_RULES: { [T in RecordType]: RecordRule<RecordByType[T]> } = {
  A: { max: 256, isSingle: false, read: parseA, compare: (a, b) => compareAddresses(a.ipv4_address, b.ipv4_address) },
  AAAA: {
    max: 256,
    isSingle: false,
    read: parseAAAA,
    compare: (a, b) => compareAddresses(a.ipv6_address, b.ipv6_address),
  },
  MX: { max: 500, isSingle: false, read: parseMX, compare: compareMX },
  TXT: { max: 500, isSingle: false, read: parseTXT, compare: compareTXT },
  NS: { max: 500, isSingle: false, read: parseNS, compare: (a, b) => compareBytewise(a.nameserver, b.nameserver) },
  SOA: {
    max: 500,
    isSingle: true,
    read: parseSOA,
    compare: (a, b) => compareBytewise(JSON.stringify(a), JSON.stringify(b)),
  },
  CNAME: { max: 500, isSingle: true, read: parseCNAME, compare: (a, b) => compareBytewise(a.target, b.target) },
}
const MAX_SET_BYTES = 65_536
/** A set of this many records, other than TXT, is always within MAX_SET_BYTES, because the names are bounded. */
const ALWAYS_FITTING_RECORDS = 20
const MAX_EMAIL_UNITS = 320
/** A mail address in its canonical form, as nearly all are. */
const PLAIN_EMAIL = /^[!-@[-~]+$/
const MAX_UINT32 = 4_294_967_295
const SOA_NUMBERS = ['serial', 'refresh_seconds', 'retry_seconds', 'expire_seconds', 'minimum_ttl_seconds'] as const
const NOT_A_HOST_NAME =
  'must be a host name: labels of at most 63 bytes, 255 in all, no white space or control characters'

/** Whether a name has at most one record of a type at a time (RFC 1034, section 3.6.2; RFC 1035, section 3.3.13). */
export function isSingleType(type: RecordType): boolean {
  return RECORD_RULES[type].isSingle
}

/**
 * Returns the canonical set of one type from the list in an observation file. Each record occurs once. MX is sorted by
 * priority then name, addresses numerically, the rest bytewise. Keys have the order of the specification.
 * If the list is invalid, returns a text that names the field and the reason, as in
 * `MX[1].priority: must be a whole number from 0 to 65535`. The limit of 256 addresses or 500 records applies to the
 * list in the file, the limit of 64 KiB to the JSON of the set.
 */
export function canonicalRecordSet<T extends RecordType>(type: T, input: unknown): RecordsByType[T] | string {
  const rule = RECORD_RULES[type] as unknown as RecordRule<AnyRecord>
  if (!Array.isArray(input)) return `${type}: must be a list`
  if (input.length > rule.max) return `${type}: must hold at most ${rule.max} records`
  const records: AnyRecord[] = []
  for (let index = 0; index < input.length; index++) {
    const record = rule.read(input[index])
    if (typeof record === 'string') return `${type}[${index}]${record}`
    records.push(record)
  }
  const set = records.length > 1 ? withoutDuplicates(records.sort(rule.compare), rule.compare) : records
  const long = type === 'TXT' || set.length > ALWAYS_FITTING_RECORDS
  if (long && Buffer.byteLength(JSON.stringify(set)) > MAX_SET_BYTES)
    return `${type}: must hold at most 64 KiB of records`
  return set as RecordsByType[T]
}

/**
 * Returns the usable records of a list that a DNS server sent. canonicalRecordSet would reject the list if one is
 * invalid. The result holds each valid record once, in canonical order, up to 256 addresses, 500 records or 64 KiB.
 * Returns null if the server sent records and none of them is valid: then nothing is known about the type.
 */
export function usableRecords<T extends RecordType>(type: T, input: readonly unknown[]): RecordsByType[T] | null {
  const rule = RECORD_RULES[type] as unknown as RecordRule<AnyRecord>
  const records = input.map((each) => rule.read(each)).filter((each) => typeof each !== 'string')
  if (records.length === 0 && input.length > 0) return null
  const set = withoutDuplicates(records.sort(rule.compare), rule.compare).slice(0, rule.max)
  let bytes = 1 // the closing bracket; the opening one and the commas are counted with the records
  const over = set.findIndex((record) => {
    bytes += Buffer.byteLength(JSON.stringify(record)) + 1
    return bytes > MAX_SET_BYTES
  })
  return (over < 0 ? set : set.slice(0, over)) as RecordsByType[T]
}

function withoutDuplicates<R>(sorted: R[], compare: (a: R, b: R) => number): R[] {
  return sorted.filter((record, index) => index === 0 || compare(sorted[index - 1]!, record) !== 0)
}

function compareMX(a: MXRecord, b: MXRecord): number {
  return a.priority - b.priority || compareBytewise(a.mail_server, b.mail_server)
}

function compareTXT(a: TXTRecord, b: TXTRecord): number {
  const difference = compareBytewise(a.text, b.text)
  if (difference !== 0) return difference
  const at = a.parts.findIndex((part, index) => part !== b.parts[index])
  return at < 0 ? a.parts.length - b.parts.length : compareBytewise(a.parts[at]!, b.parts[at] ?? '')
}

function parseA(input: unknown): ARecord | string {
  const address = typeof input === 'string' ? parseAddress(input) : null
  return address === null || addressFamily(address) !== 4 ? ': must be an IPv4 address' : { ipv4_address: address }
}

function parseAAAA(input: unknown): AAAARecord | string {
  const address = typeof input === 'string' ? parseAddress(input) : null
  return address === null || addressFamily(address) !== 6 ? ': must be an IPv6 address' : { ipv6_address: address }
}

function parseNS(input: unknown): NSRecord | string {
  const nameserver = parseHostValue(input)
  return nameserver === null ? `: ${NOT_A_HOST_NAME}` : { nameserver }
}

function parseCNAME(input: unknown): CNAMERecord | string {
  const target = parseHostValue(input)
  return target === null ? `: ${NOT_A_HOST_NAME}` : { target }
}

function parseMX(input: unknown): MXRecord | string {
  if (!isObject(input)) return ': must be an object'
  const priority = input.priority
  if (!isWholeNumber(priority, 65_535)) return '.priority: must be a whole number from 0 to 65535'
  const mail_server = parseHostValue(input.mail_server)
  return mail_server === null ? `.mail_server: ${NOT_A_HOST_NAME}` : { priority: priority + 0, mail_server }
}

function parseTXT(input: unknown): TXTRecord | string {
  if (!Array.isArray(input) || input.length === 0) return ': must be a list of at least one text'
  const parts: string[] = []
  for (let index = 0; index < input.length; index++) {
    const part = typeof input[index] === 'string' ? canonicalTxtPart(input[index]) : null
    if (part === null) return `[${index}]: must be a text of at most 255 bytes`
    parts.push(part)
  }
  return { text: parts.length === 1 ? parts[0]! : parts.join(''), parts }
}

function parseSOA(input: unknown): SOARecord | string {
  if (!isObject(input)) return ': must be an object'
  const primary_nameserver = parseHostValue(input.primary_nameserver)
  if (primary_nameserver === null) return `.primary_nameserver: ${NOT_A_HOST_NAME}`
  const admin_email = parseEmail(input.admin_email)
  if (admin_email === null) return '.admin_email: must be 1 to 320 characters without white space or control characters'
  for (const key of SOA_NUMBERS) {
    const isMissing = key === 'minimum_ttl_seconds' && (input[key] === undefined || input[key] === null)
    if (!isMissing && !isWholeNumber(input[key], MAX_UINT32))
      return `.${key}: must be a whole number from 0 to ${MAX_UINT32}`
  }
  const { serial, refresh_seconds, retry_seconds, expire_seconds, minimum_ttl_seconds } = input as unknown as SOARecord
  const record = {
    primary_nameserver,
    admin_email,
    serial: serial + 0,
    refresh_seconds: refresh_seconds + 0,
    retry_seconds: retry_seconds + 0,
    expire_seconds: expire_seconds + 0,
  }
  // an input can have null
  return typeof minimum_ttl_seconds === 'number' ? { ...record, minimum_ttl_seconds: minimum_ttl_seconds + 0 } : record
}

function parseHostValue(input: unknown): string | null {
  return typeof input === 'string' ? parseHostName(input) : null
}

/** The mail address of an SOA record with its ASCII letters in lower case. An at-sign is not required. */
function parseEmail(input: unknown): string | null {
  if (typeof input !== 'string' || input === '' || input.length > MAX_EMAIL_UNITS || !input.isWellFormed()) return null
  if (PLAIN_EMAIL.test(input)) return input
  if (/[\s\p{Cc}]/u.test(input)) return null
  return input.replace(/[A-Z]+/g, (letters) => letters.toLowerCase())
}

/** Whether the input is a whole number from 0 to `max`. -0 is accepted too: callers add 0 to turn it into 0. */
function isWholeNumber(input: unknown, max: number): input is number {
  return Number.isInteger(input) && (input as number) >= 0 && (input as number) <= max
}
