// DNS records as the API answers them, and the canonical set of one type that an observation may carry.
import { type Address, compareAddresses, family, parseAddress } from './address.ts'
import { parseHost } from './host.ts'
import { compareBytewise } from './order.ts'
import { canonicalPart } from './txt.ts'

export { adminEmail, parseHost } from './host.ts'
export { textPart } from './txt.ts'

/** The seven types in the order of the specification. */
export const RECORD_TYPES = ['A', 'AAAA', 'MX', 'TXT', 'NS', 'SOA', 'CNAME'] as const
export type RecordType = (typeof RECORD_TYPES)[number]

export type ARecord = { ipv4_address: Address }
export type AAAARecord = { ipv6_address: Address }
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

type RecordOf = {
  A: ARecord
  AAAA: AAAARecord
  MX: MXRecord
  TXT: TXTRecord
  NS: NSRecord
  SOA: SOARecord
  CNAME: CNAMERecord
}
/** The set of records of each type. */
export type Records = { [T in RecordType]: RecordOf[T][] }
export type AnyRecord = RecordOf[RecordType]

/** How one type is read from an observation, `read` answering a reason of refusal as text, and how it is ordered. */
type Rule<R> = { most: number; read: (given: unknown) => R | string; compare: (a: R, b: R) => number }

const RULES: { [T in RecordType]: Rule<RecordOf[T]> } = {
  A: { most: 256, read: readA, compare: (a, b) => compareAddresses(a.ipv4_address, b.ipv4_address) },
  AAAA: { most: 256, read: readAAAA, compare: (a, b) => compareAddresses(a.ipv6_address, b.ipv6_address) },
  MX: { most: 500, read: readMX, compare: compareMX },
  TXT: { most: 500, read: readTXT, compare: compareTXT },
  NS: { most: 500, read: readNS, compare: (a, b) => compareBytewise(a.nameserver, b.nameserver) },
  SOA: { most: 500, read: readSOA, compare: (a, b) => compareBytewise(JSON.stringify(a), JSON.stringify(b)) },
  CNAME: { most: 500, read: readCNAME, compare: (a, b) => compareBytewise(a.target, b.target) },
}
const SET_BYTES = 65_536
/** So many records of bounded names are within SET_BYTES in any case. */
const FEW_RECORDS = 20
const EMAIL_UNITS = 320
const UINT32 = 4_294_967_295
const NO_HOST = 'must be a host name: labels of at most 63 bytes, 255 in all, no white space or control characters'

/**
 * The canonical set of one type from the list of an observation file: each record once, MX by priority then name,
 * addresses numeric, the rest bytewise, keys in the order of the specification. Or a text: why the list is refused,
 * naming the field, as in `MX[1].priority: must be a whole number from 0 to 65535`. The bound of 256 addresses or 500
 * records counts the list as given, the one of 64 KiB the JSON of the set.
 */
export function canonicalRecords<T extends RecordType>(type: T, given: unknown): Records[T] | string {
  const rule = RULES[type] as unknown as Rule<AnyRecord>
  if (!Array.isArray(given)) return `${type}: must be a list`
  if (given.length > rule.most) return `${type}: must hold at most ${rule.most} records`
  const records: AnyRecord[] = []
  for (let index = 0; index < given.length; index++) {
    const record = rule.read(given[index])
    if (typeof record === 'string') return `${type}[${index}]${record}`
    records.push(record)
  }
  const set = records.length > 1 ? eachOnce(records.sort(rule.compare), rule.compare) : records
  const long = type === 'TXT' || set.length > FEW_RECORDS
  if (long && Buffer.byteLength(JSON.stringify(set)) > SET_BYTES) return `${type}: must hold at most 64 KiB of records`
  return set as Records[T]
}

/**
 * What a crawler keeps of the records that a server sent, for which canonicalRecords would refuse the list: those that can be
 * read, each once, and of more than 256 addresses, 500 records or 64 KiB the first in canonical order. Null where records
 * were sent and none of them can be read: that says nothing of the type.
 */
export function keptRecords<T extends RecordType>(type: T, given: readonly unknown[]): Records[T] | null {
  const rule = RULES[type] as unknown as Rule<AnyRecord>
  const records = given.map((each) => rule.read(each)).filter((each) => typeof each !== 'string')
  if (records.length === 0 && given.length > 0) return null
  const set = eachOnce(records.sort(rule.compare), rule.compare).slice(0, rule.most)
  let bytes = 1 // the bracket at the end; the one in front and the commas go with the records
  const over = set.findIndex((record) => {
    bytes += Buffer.byteLength(JSON.stringify(record)) + 1
    return bytes > SET_BYTES
  })
  return (over < 0 ? set : set.slice(0, over)) as Records[T]
}

function eachOnce<R>(sorted: R[], compare: (a: R, b: R) => number): R[] {
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

function readA(given: unknown): ARecord | string {
  const address = typeof given === 'string' ? parseAddress(given) : null
  return address === null || family(address) !== 4 ? ': must be an IPv4 address' : { ipv4_address: address }
}

function readAAAA(given: unknown): AAAARecord | string {
  const address = typeof given === 'string' ? parseAddress(given) : null
  return address === null || family(address) !== 6 ? ': must be an IPv6 address' : { ipv6_address: address }
}

function readNS(given: unknown): NSRecord | string {
  const nameserver = readHost(given)
  return nameserver === null ? `: ${NO_HOST}` : { nameserver }
}

function readCNAME(given: unknown): CNAMERecord | string {
  const target = readHost(given)
  return target === null ? `: ${NO_HOST}` : { target }
}

function readMX(given: unknown): MXRecord | string {
  if (!isObject(given)) return ': must be an object'
  const priority = given.priority
  if (!isWhole(priority, 65_535)) return '.priority: must be a whole number from 0 to 65535'
  const mail_server = readHost(given.mail_server)
  return mail_server === null ? `.mail_server: ${NO_HOST}` : { priority: priority + 0, mail_server }
}

function readTXT(given: unknown): TXTRecord | string {
  if (!Array.isArray(given) || given.length === 0) return ': must be a list of at least one text'
  const parts: string[] = []
  for (let index = 0; index < given.length; index++) {
    const part = typeof given[index] === 'string' ? canonicalPart(given[index]) : null
    if (part === null) return `[${index}]: must be a text of at most 255 bytes`
    parts.push(part)
  }
  return { text: parts.length === 1 ? parts[0]! : parts.join(''), parts }
}

function readSOA(given: unknown): SOARecord | string {
  if (!isObject(given)) return ': must be an object'
  const primary_nameserver = readHost(given.primary_nameserver)
  if (primary_nameserver === null) return `.primary_nameserver: ${NO_HOST}`
  const admin_email = readEmail(given.admin_email)
  if (admin_email === null) return '.admin_email: must be 1 to 320 characters without white space or control characters'
  const numbers: Record<string, number> = {}
  for (const key of ['serial', 'refresh_seconds', 'retry_seconds', 'expire_seconds', 'minimum_ttl_seconds']) {
    const value = given[key]
    if (key === 'minimum_ttl_seconds' && (value === undefined || value === null)) continue
    if (!isWhole(value, UINT32)) return `.${key}: must be a whole number from 0 to ${UINT32}`
    numbers[key] = value + 0
  }
  return { primary_nameserver, admin_email, ...(numbers as Omit<SOARecord, 'primary_nameserver' | 'admin_email'>) }
}

function readHost(given: unknown): string | null {
  return typeof given === 'string' ? parseHost(given) : null
}

/** An address as written out, its ASCII letters lower-cased; one without an at-sign passes. */
function readEmail(given: unknown): string | null {
  if (typeof given !== 'string' || given === '' || given.length > EMAIL_UNITS || !given.isWellFormed()) return null
  if (/[\s\p{Cc}]/u.test(given)) return null
  return given.replace(/[A-Z]+/g, (letters) => letters.toLowerCase())
}

function isObject(given: unknown): given is Record<string, unknown> {
  return typeof given === 'object' && given !== null && !Array.isArray(given)
}

/** A whole number from 0 to `most`; -0 passes too, and adding 0 makes it 0. */
function isWhole(given: unknown, most: number): given is number {
  return Number.isInteger(given) && (given as number) >= 0 && (given as number) <= most
}
