/** Reads the names and the data in wire form (RFC 1035) that raw lookups send as hexadecimal digits. */

import type { HostType, InverseQuery } from '../../store/port/inverse.ts'
import { unpackAddress } from '../../values/ip-address.ts'
import { RECORD_TYPES, type RecordType } from '../../values/records/dns-record.ts'
import { escapeByte } from '../../values/records/escape.ts'
import { parseHostName } from '../../values/records/host-name.ts'
import { encodeTxtPart } from '../../values/records/txt-part.ts'

/**
 * A question for the index. `priority`: only MX records with it. `soa`: only SOA records with exactly these bytes of
 * data; null: whatever an SOA says besides the host.
 */
export type RdataSearch = { query: InverseQuery; priority: number | null; soa: Uint8Array | null }

const BYTES_OF_SOA_NUMBERS = 20

/** The bytes of an even number of hexadecimal digits; null for any other text. */
export function parseHex(text: string): Uint8Array | null {
  return /^(?:[\da-f]{2})+$/i.test(text) ? Buffer.from(text, 'hex') : null
}

/** The canonical presentation form of bytes that are one name without compression; null for any other bytes. */
export function parseWireName(bytes: Uint8Array): string | null {
  const found = wireNameAt(bytes, 0)
  return found?.end === bytes.length ? found.host : null
}

/** The questions for data: one for each of the types whose data can have these bytes. */
export function searchesOfData(bytes: Uint8Array, types: readonly RecordType[]): RdataSearch[] {
  return RECORD_TYPES.filter((type) => types.includes(type)).flatMap((type) => SEARCHES[type](bytes) ?? [])
}

const SEARCHES: Record<RecordType, (bytes: Uint8Array) => RdataSearch | null> = {
  A: (bytes) => (bytes.length === 4 ? addressSearch(4, bytes) : null),
  AAAA: (bytes) => (bytes.length === 16 ? addressSearch(6, bytes) : null),
  MX: mailSearch,
  TXT: textSearch,
  NS: (bytes) => hostSearch('NS', parseWireName(bytes)),
  SOA: soaSearch,
  CNAME: (bytes) => hostSearch('CNAME', parseWireName(bytes)),
}

function addressSearch(family: 4 | 6, bytes: Uint8Array): RdataSearch {
  const address = unpackAddress(Uint8Array.of(family, ...bytes))
  return { query: { by: 'addresses', first: address, last: address }, priority: null, soa: null }
}

function hostSearch(type: HostType, host: string | null): RdataSearch | null {
  if (host === null) return null
  return { query: { by: 'hosts', host, match: 'exact', types: [type] }, priority: null, soa: null }
}

function mailSearch(bytes: Uint8Array): RdataSearch | null {
  if (bytes.length < 3) return null
  const search = hostSearch('MX', parseWireName(bytes.subarray(2)))
  return search && { ...search, priority: bytes[0]! * 256 + bytes[1]! }
}

/** By its first name. The reader of the spans compares the rest. */
function soaSearch(bytes: Uint8Array): RdataSearch | null {
  const primary = wireNameAt(bytes, 0)
  const mailbox = primary && wireNameAt(bytes, primary.end)
  if (primary === null || mailbox === null || mailbox.end + BYTES_OF_SOA_NUMBERS !== bytes.length) return null
  const search = hostSearch('SOA', primary.host)
  return search && { ...search, soa: bytes }
}

function textSearch(bytes: Uint8Array): RdataSearch | null {
  const parts: string[] = []
  for (let at = 0; at < bytes.length; ) {
    const end = at + 1 + bytes[at]!
    if (end > bytes.length) return null
    parts.push(encodeTxtPart(bytes.subarray(at + 1, end)))
    at = end
  }
  return parts.length === 0 ? null : { query: { by: 'text', parts }, priority: null, soa: null }
}

/** Whether the presentation form of an SOA record says the same as its data in wire form. */
export function isSoaOf(presentation: string, bytes: Uint8Array): boolean {
  const primary = wireNameAt(bytes, 0)
  const mailbox = primary && wireNameAt(bytes, primary.end)
  if (primary === null || mailbox === null) return false
  const view = new DataView(bytes.buffer, bytes.byteOffset + mailbox.end)
  const numbers = [0, 4, 8, 12, 16].map((at) => view.getUint32(at))
  const [shownPrimary, shownMailbox, ...shownNumbers] = presentation.split(' ')
  return (
    parseHostName(shownPrimary!) === primary.host &&
    parseHostName(shownMailbox!) === mailbox.host &&
    shownNumbers.join() === numbers.slice(0, shownNumbers.length).join()
  )
}

/** The name that starts at `at`, and the index after it. */
function wireNameAt(bytes: Uint8Array, at: number): { host: string; end: number } | null {
  let text = ''
  for (let start = at; start < bytes.length; ) {
    const length = bytes[start]!
    if (length === 0) {
      const host = parseHostName(text || '.')
      return host === null ? null : { host, end: start + 1 }
    }
    const end = start + 1 + length
    if (length > 63 || end > bytes.length) return null
    for (const byte of bytes.subarray(start + 1, end)) text += escapeByte(byte)
    text += '.'
    start = end
  }
  return null
}
