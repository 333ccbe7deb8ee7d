// DNS records as the API answers them, and the canonical set of one type that an observation may carry.

import { compareBytewise } from './bytewise-order.ts'
import { parseHostName } from './host-name.ts'
import { addressFamily, compareAddresses, type IpAddress, parseAddress } from './ip-address.ts'
import { canonicalTxtPart } from './txt-part.ts'

export { adminEmail, parseHostName as parseHost } from './host-name.ts'
export { encodeTxtPart as textPart } from './txt-part.ts'

/** The seven types in the order of the specification. */
export const RECORD_TYPES = ['A', 'AAAA', 'MX', 'TXT', 'NS', 'SOA', 'CNAME'] as const
export type RecordType = (typeof RECORD_TYPES)[number]

export type ARecord = { ipv4_address: IpAddress }
export type AAAARecord = { ipv6_address: IpAddress }
export type MXRecord = { priority: number; mail_server: string }
export type TXTRecord = { text: string; parts: string[] }
export type NSRecord = { nameserver: string }
export type CNAMERecord = { target: string }
/** The times are in seconds; `minimum_ttl_seconds` is left out where it was not reported. */
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

/** How one type is read from an observation, `read` answering a reason of refusal as text, and how it is ordered. */
type RecordRule<R> = { max: number; read: (given: unknown) => R | string; compare: (a: R, b: R) => number }

const RECORD_RULES: { [T in RecordType]: RecordRule<RecordByType[T]> } = {
  A: { max: 256, read: parseA, compare: (a, b) => compareAddresses(a.ipv4_address, b.ipv4_address) },
  AAAA: { max: 256, read: parseAAAA, compare: (a, b) => compareAddresses(a.ipv6_address, b.ipv6_address) },
  MX: { max: 500, read: parseMX, compare: compareMX },
  TXT: { max: 500, read: parseTXT, compare: compareTXT },
  NS: { max: 500, read: parseNS, compare: (a, b) => compareBytewise(a.nameserver, b.nameserver) },
  SOA: { max: 500, read: parseSOA, compare: (a, b) => compareBytewise(JSON.stringify(a), JSON.stringify(b)) },
  CNAME: { max: 500, read: parseCNAME, compare: (a, b) => compareBytewise(a.target, b.target) },
}
const MAX_SET_BYTES = 65_536
/** So many records of bounded names are within SET_BYTES in any case. */
const ALWAYS_FITTING_RECORDS = 20
const MAX_EMAIL_UNITS = 320
const MAX_UINT32 = 4_294_967_295
const NOT_A_HOST_NAME =
  'must be a host name: labels of at most 63 bytes, 255 in all, no white space or control characters'

/**
 * The canonical set of one type from the list of an observation file: each record once, MX by priority then name,
 * addresses numeric, the rest bytewise, keys in the order of the specification. Or a text: why the list is refused,
 * naming the field, as in `MX[1].priority: must be a whole number from 0 to 65535`. The bound of 256 addresses or 500
 * records counts the list as given, the one of 64 KiB the JSON of the set.
 */
export function canonicalRecordSet<T extends RecordType>(type: T, given: unknown): RecordsByType[T] | string {
  const rule = RECORD_RULES[type] as unknown as RecordRule<AnyRecord>
  if (!Array.isArray(given)) return `${type}: must be a list`
  if (given.length > rule.max) return `${type}: must hold at most ${rule.max} records`
  const records: AnyRecord[] = []
  for (let index = 0; index < given.length; index++) {
    const record = rule.read(given[index])
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
 * What a crawler keeps of the records that a server sent, for which canonicalRecords would refuse the list: those that can be
 * read, each once, and of more than 256 addresses, 500 records or 64 KiB the first in canonical order. Null where records
 * were sent and none of them can be read: that says nothing of the type.
 */
export function usableRecords<T extends RecordType>(type: T, given: readonly unknown[]): RecordsByType[T] | null {
  const rule = RECORD_RULES[type] as unknown as RecordRule<AnyRecord>
  const records = given.map((each) => rule.read(each)).filter((each) => typeof each !== 'string')
  if (records.length === 0 && given.length > 0) return null
  const set = withoutDuplicates(records.sort(rule.compare), rule.compare).slice(0, rule.max)
  let bytes = 1 // the bracket at the end; the one in front and the commas go with the records
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

function parseA(given: unknown): ARecord | string {
  const address = typeof given === 'string' ? parseAddress(given) : null
  return address === null || addressFamily(address) !== 4 ? ': must be an IPv4 address' : { ipv4_address: address }
}

function parseAAAA(given: unknown): AAAARecord | string {
  const address = typeof given === 'string' ? parseAddress(given) : null
  return address === null || addressFamily(address) !== 6 ? ': must be an IPv6 address' : { ipv6_address: address }
}

function parseNS(given: unknown): NSRecord | string {
  const nameserver = parseHostValue(given)
  return nameserver === null ? `: ${NOT_A_HOST_NAME}` : { nameserver }
}

function parseCNAME(given: unknown): CNAMERecord | string {
  const target = parseHostValue(given)
  return target === null ? `: ${NOT_A_HOST_NAME}` : { target }
}

function parseMX(given: unknown): MXRecord | string {
  if (!isObject(given)) return ': must be an object'
  const priority = given.priority
  if (!isWholeNumber(priority, 65_535)) return '.priority: must be a whole number from 0 to 65535'
  const mail_server = parseHostValue(given.mail_server)
  return mail_server === null ? `.mail_server: ${NOT_A_HOST_NAME}` : { priority: priority + 0, mail_server }
}

function parseTXT(given: unknown): TXTRecord | string {
  if (!Array.isArray(given) || given.length === 0) return ': must be a list of at least one text'
  const parts: string[] = []
  for (let index = 0; index < given.length; index++) {
    const part = typeof given[index] === 'string' ? canonicalTxtPart(given[index]) : null
    if (part === null) return `[${index}]: must be a text of at most 255 bytes`
    parts.push(part)
  }
  return { text: parts.length === 1 ? parts[0]! : parts.join(''), parts }
}

function parseSOA(given: unknown): SOARecord | string {
  if (!isObject(given)) return ': must be an object'
  const primary_nameserver = parseHostValue(given.primary_nameserver)
  if (primary_nameserver === null) return `.primary_nameserver: ${NOT_A_HOST_NAME}`
  const admin_email = parseEmail(given.admin_email)
  if (admin_email === null) return '.admin_email: must be 1 to 320 characters without white space or control characters'
  const numbers: Record<string, number> = {}
  for (const key of ['serial', 'refresh_seconds', 'retry_seconds', 'expire_seconds', 'minimum_ttl_seconds']) {
    const value = given[key]
    if (key === 'minimum_ttl_seconds' && (value === undefined || value === null)) continue
    if (!isWholeNumber(value, MAX_UINT32)) return `.${key}: must be a whole number from 0 to ${MAX_UINT32}`
    numbers[key] = value + 0
  }
  return { primary_nameserver, admin_email, ...(numbers as Omit<SOARecord, 'primary_nameserver' | 'admin_email'>) }
}

function parseHostValue(given: unknown): string | null {
  return typeof given === 'string' ? parseHostName(given) : null
}

/** An address as written out, its ASCII letters lower-cased; one without an at-sign passes. */
function parseEmail(given: unknown): string | null {
  if (typeof given !== 'string' || given === '' || given.length > MAX_EMAIL_UNITS || !given.isWellFormed()) return null
  if (/[\s\p{Cc}]/u.test(given)) return null
  return given.replace(/[A-Z]+/g, (letters) => letters.toLowerCase())
}

function isObject(given: unknown): given is Record<string, unknown> {
  return typeof given === 'object' && given !== null && !Array.isArray(given)
}

/** A whole number from 0 to `most`; -0 passes too, and adding 0 makes it 0. */
function isWholeNumber(given: unknown, max: number): given is number {
  return Number.isInteger(given) && (given as number) >= 0 && (given as number) <= max
}
