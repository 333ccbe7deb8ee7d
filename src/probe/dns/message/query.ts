/** A query as a message, and the check whether a message is its answer (RFC 1035, section 4.1; EDNS: RFC 6891). */

import type { RecordType } from '../../../values/records/dns-record.ts'
import { encodeHost } from './wire-name.ts'

/** `bytes`: the message; `end`: the offset at which its question section ends. */
export type DnsQuery = { host: string; type: RecordType; bytes: Buffer; end: number }

export const DNS_TYPE_CODES: Readonly<Record<RecordType, number>> = {
  A: 1,
  NS: 2,
  CNAME: 5,
  SOA: 6,
  MX: 15,
  TXT: 16,
  AAAA: 28,
}
export const HEADER_BYTES = 12
export const CLASS_IN = 1
export const OPT_TYPE_CODE = 41
export const NXDOMAIN_RCODE = 3

/** Flags: recursion desired. One question. */
const HEADER = Buffer.from([0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0])
/** The buffer in which queries are built. It starts with the header and fits any host. */
const scratch = Buffer.concat([HEADER], 512)
/** The largest message that passes every network without fragmentation (DNS flag day 2020). */
const UDP_BYTES = 1232
const EDNS = Buffer.from([0, 0, OPT_TYPE_CODE, UDP_BYTES >> 8, UDP_BYTES & 255, 0, 0, 0, 0, 0, 0])

/**
 * Encodes a query for one type of a host. Returns null if the text is not a host name. `payloadReduction`: the number
 * of bytes by which the offered response size is reduced. A resolver that caches answers by the bytes of the query then
 * treats it as a different query.
 */
export function encodeQuery(host: string, type: RecordType, hasEdns: boolean, payloadReduction = 0): DnsQuery | null {
  const length = encodeHost(host, scratch, HEADER_BYTES)
  if (length < 0) return null
  const end = HEADER_BYTES + length + 4
  scratch[HEADER_BYTES - 1] = hasEdns ? 1 : 0
  scratch.writeUInt16BE(DNS_TYPE_CODES[type], end - 4)
  scratch.writeUInt16BE(CLASS_IN, end - 2)
  if (hasEdns) {
    scratch.set(EDNS, end)
    scratch.writeUInt16BE(UDP_BYTES - payloadReduction, end + 3)
  }
  const bytes = Buffer.allocUnsafe(hasEdns ? end + EDNS.length : end)
  scratch.copy(bytes)
  return { host, type, bytes, end }
}

/** Writes the ID into the bytes of the query, over the ID of an earlier attempt, and returns them. */
export function setQueryId({ bytes }: DnsQuery, id: number): Buffer {
  bytes[0] = id >>> 8
  bytes[1] = id & 255
  return bytes
}

/** The ID of a message. Returns -1 if the message is too short for a header. */
export function messageId(message: Uint8Array): number {
  return message.length < HEADER_BYTES ? -1 : (message[0]! << 8) | message[1]!
}

/**
 * Whether a message with the right ID answers this query. A message that reports a format error or a refusal may omit
 * the question section.
 */
export function isAnswerTo(message: Uint8Array, { bytes, end }: DnsQuery): boolean {
  if ((message[2]! & 0xf8) !== 0x80 || message[4] !== 0) return false
  const code = message[3]! & 15
  if (message[5] === 0) return code !== 0 && code !== NXDOMAIN_RCODE
  if (message[5] !== 1 || message.length < end) return false
  for (let at = HEADER_BYTES; at < end; at++) {
    if (message[at] !== bytes[at] && !isSameLetter(message[at]!, bytes[at]!)) return false
  }
  return true
}

/** RFC 4343. A length byte is below every letter, and type and class follow zero bytes. */
function isSameLetter(a: number, b: number): boolean {
  const lower = a | 32
  return lower === (b | 32) && lower >= 97 && lower <= 122
}
