/** Converts records in presentation form (RFC 1035, section 5) to the form of observation files. */

import { RECORD_TYPES, type RecordType } from '../../values/records/dns-record.ts'
import { adminEmail } from '../../values/records/host-name.ts'
import { MAX_TXT_PART_BYTES } from '../../values/records/txt-part.ts'
import type { PrintedRecord } from './printed-message.ts'

const BACKSLASH = '\\'

/**
 * Converts the data of one record, such as `10 mx.example.` or `"v=spf1 -all"`, for canonicalRecordSet to validate.
 * Also reads `\xHH`, as massdns writes a byte.
 */
export function parsePresentation(type: RecordType, data: string): unknown {
  const text = decimalEscapes(data)
  if (type === 'TXT')
    return text.trimStart().startsWith('"') ? quotedParts(text.trim()) : splitTxtParts(unescapeOptional(text))
  const fields = text.trim().split(/\s+/)
  if (type === 'MX') return fields.length === 2 ? { priority: parseDigits(fields[0]), mail_server: fields[1] } : text
  if (type !== 'SOA') return text.trim()
  const [primary_nameserver, mailbox = '', serial, refresh, retry, expire, minimum, ...more] = fields
  if (more.length > 0) return text
  return {
    primary_nameserver,
    admin_email: adminEmail(mailbox),
    serial: parseDigits(serial),
    refresh_seconds: parseDigits(refresh),
    retry_seconds: parseDigits(retry),
    expire_seconds: parseDigits(expire),
    minimum_ttl_seconds: minimum === undefined ? undefined : parseDigits(minimum),
  }
}

/** Returns one printed record. The data of an unsupported type is left out. */
export function printedRecord(owner: string, type: string, data: string): PrintedRecord {
  const known = RECORD_TYPES.find((each) => each === type)
  return { owner: decimalEscapes(owner), type, record: known === undefined ? null : parsePresentation(known, data) }
}

function decimalEscapes(text: string): string {
  return text.replace(/\\x([0-9a-f]{2})/gi, (_, hex) => `\\${String(Number.parseInt(hex, 16)).padStart(3, '0')}`)
}

/** Parses decimal digits. Returns NaN for anything else. */
function parseDigits(text: string | undefined): number {
  return text !== undefined && /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN
}

/** Splits a TXT record whose strings were printed joined and without quotes, whatever they contain. */
export function splitJoinedTxt(data: string): string[] {
  return splitTxtParts(unescapeOptional(decimalEscapes(data)))
}

/** Returns the character strings of a TXT record, each in quotes. */
function quotedParts(text: string): string[] {
  const strings: string[] = []
  for (let at = 0; at < text.length; ) {
    const end = closingQuote(text, at + 1)
    strings.push(unescapeOptional(text.slice(at + 1, end)))
    at = end + 1
    while (text[at] === ' ' || text[at] === '\t') at++
  }
  return strings
}

/**
 * Returns the index of the quote that ends a string: white space and another string, or nothing, follows it. massdns
 * does not escape quotes.
 */
function closingQuote(text: string, from: number): number {
  for (let at = from; at < text.length; at++) {
    if (text[at] === BACKSLASH) at++
    else if (text[at] === '"' && (at === text.length - 1 || /^[ \t]+"/.test(text.slice(at + 1, at + 9)))) return at
  }
  return text.length
}

/**
 * Removes the backslash from characters that need none in an observation file: `\"` becomes a quote. `\DDD` and `\\`
 * stay.
 */
export function unescapeOptional(text: string): string {
  return text.includes(BACKSLASH)
    ? text.replace(/\\(\d{3}|.)/gs, (whole, it) => (/^[\d\\]/.test(it) ? whole : it))
    : text
}

/** Splits a joined text after every 255 bytes, as almost all software does. */
function splitTxtParts(text: string): string[] {
  if (Buffer.byteLength(text) <= MAX_TXT_PART_BYTES) return [text]
  const strings: string[] = []
  let bytes = MAX_TXT_PART_BYTES
  for (const [unit] of text.matchAll(/\\\d{3}|\\\\|./gsu)) {
    const size = unit.length > 1 && unit[0] === BACKSLASH ? 1 : Buffer.byteLength(unit)
    if (bytes + size > MAX_TXT_PART_BYTES) {
      strings.push('')
      bytes = 0
    }
    strings[strings.length - 1] += unit
    bytes += size
  }
  return strings
}
