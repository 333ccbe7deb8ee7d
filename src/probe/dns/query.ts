/** One question as a message, and which message may be its answer (RFC 1035, chapter 4.1; EDNS as RFC 6891). */

import type { RecordType } from '../../values/dns-record.ts'
import { encodeHost } from './wire-name.ts'

/** A question. `bytes`: the message; `end`: where its question section ends. */
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

/** Recursion desired, one question. */
const HEADER = Buffer.from([0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0])
/** Where a question is written: room for any host, and the header is there. */
const scratch = Buffer.concat([HEADER], 512)
/** What passes every network in one piece (DNS flag day 2020). */
const UDP_BYTES = 1232
const EDNS = Buffer.from([0, 0, OPT_TYPE_CODE, UDP_BYTES >> 8, UDP_BYTES & 255, 0, 0, 0, 0, 0, 0])

/**
 * The question for one type at a host; null where the text is no host. `less`: so many bytes less are offered for the answer, so
 * that a resolver which keeps answers by the bytes of the question takes it for another one.
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
  const bytes = Buffer.from(scratch.subarray(0, hasEdns ? end + EDNS.length : end))
  return { host, type, bytes, end }
}

/** The message under an id: its own bytes, so that the id of an earlier attempt is gone. */
export function setQueryId({ bytes }: DnsQuery, id: number): Buffer {
  bytes[0] = id >>> 8
  bytes[1] = id & 255
  return bytes
}

/** Its first two bytes; -1 for what is too short for a header. */
export function messageId(message: Uint8Array): number {
  return message.length < HEADER_BYTES ? -1 : (message[0]! << 8) | message[1]!
}

/**
 * Whether a message, of which the id is right, answers exactly this question. One that only says that it could not be
 * read or will not be answered may leave the question out.
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

/** RFC 4343. A length byte is below every letter, and types and class stand behind zeros. */
function isSameLetter(a: number, b: number): boolean {
  const lower = a | 32
  return lower === (b | 32) && lower >= 97 && lower <= 122
}
