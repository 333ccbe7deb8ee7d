/** The value type of a host name in a record: any labels that DNS allows, in canonical presentation form. */
import { BACKSLASH_CODE, decimalEscapeAt, escapeByte } from './escape.ts'

export const MAX_LABEL_BYTES = 63 // RFC 1035, section 2.3.4
export const MAX_WIRE_NAME_BYTES = 255 // the same section: labels, their length bytes and the root's
const DOT_CODE = 46
const LABEL_SEPARATOR = -1

/**
 * Returns the canonical presentation form of a host name: lower case, no trailing dot, "." for the root.
 * The function decodes escapes (`\DDD`, `\X`) and writes each byte in one way: `\.` and `\\` for a dot and a backslash
 * inside a label, `\DDD` for a byte that is not printable ASCII, the character itself for the rest. Text outside ASCII
 * is read as UTF-8. Returns null for white space, control characters, an empty label, a label over 63 bytes, and a name
 * over 255 bytes in wire form.
 */
export function parseHostName(text: string): string | null {
  if (text === '.') return text
  const end = text.endsWith('.') ? text.length - 1 : text.length
  let start = 0 // of the label being read
  let upper = false
  for (let at = 0; at < end; at++) {
    const code = text.charCodeAt(at)
    if (code <= 32 || code === 127) return null
    if (code > 127 || code === BACKSLASH_CODE) return parseEscapedHostName(text)
    if (code === DOT_CODE) {
      if (at === start || at - start > MAX_LABEL_BYTES) return null
      start = at + 1
    } else if (code >= 65 && code <= 90) upper = true
  }
  if (end === start || end - start > MAX_LABEL_BYTES || end + 2 > MAX_WIRE_NAME_BYTES) return null
  const host = end === text.length ? text : text.slice(0, end)
  return upper ? host.toLowerCase() : host
}

/** parseHostName for a text with escapes or characters outside ASCII. */
function parseEscapedHostName(text: string): string | null {
  const bytes = decodeEscapes(text)
  if (bytes === null) return null
  if (bytes.at(-1) === LABEL_SEPARATOR) bytes.pop()
  let host = ''
  let label = 0
  for (const byte of bytes) {
    if (byte === LABEL_SEPARATOR && label === 0) return null
    label = byte === LABEL_SEPARATOR ? 0 : label + 1
    if (label > MAX_LABEL_BYTES) return null
    host += byte === LABEL_SEPARATOR ? '.' : formatLabelByte(byte)
  }
  return label === 0 || bytes.length + 2 > MAX_WIRE_NAME_BYTES ? null : host
}

/** The bytes of a presentation text, with LABEL_SEPARATOR for a dot between labels. Null if the text is invalid. */
function decodeEscapes(text: string): number[] | null {
  const encoded = Buffer.from(text)
  const bytes: number[] = []
  for (let at = 0; at < encoded.length; at++) {
    let byte = encoded[at]!
    if (byte === DOT_CODE) byte = LABEL_SEPARATOR
    else if (byte === BACKSLASH_CODE) {
      const decimal = decimalEscapeAt(encoded, at + 1)
      const next = encoded[at + 1] ?? 0
      if (decimal < 0 && (next <= 32 || next === 127 || (next >= 48 && next <= 57))) return null
      byte = decimal < 0 ? next : decimal
      at += decimal < 0 ? 1 : 3
    } else if (byte <= 32 || byte === 127) return null
    bytes.push(byte)
  }
  return bytes
}

/** The presentation form of one byte of a label, in lower case (RFC 4343). */
function formatLabelByte(byte: number): string {
  if (byte === DOT_CODE || byte === BACKSLASH_CODE) return `\\${String.fromCharCode(byte)}`
  if (byte <= 32 || byte >= 127) return escapeByte(byte)
  return String.fromCharCode(byte >= 65 && byte <= 90 ? byte + 32 : byte)
}

/**
 * Returns the administrator's mail address from the RNAME of an SOA record in presentation form (RFC 1035, section 8).
 * The first unescaped dot becomes the at-sign. Escaped dots before it are dots of the mailbox. An RNAME of one label
 * gives no at-sign.
 */
export function adminEmail(rname: string): string {
  const host = parseHostName(rname) ?? rname
  if (host === '.') return host
  const dot = firstUnescapedDot(host)
  const mailbox = host.slice(0, dot).replace(/\\(.)/gs, (whole, char) => (char === '.' ? '.' : whole))
  return dot === host.length ? mailbox : `${mailbox}@${host.slice(dot + 1)}`
}

/** The index of the first unescaped dot; the length of the text if there is none. */
function firstUnescapedDot(host: string): number {
  let at = 0
  while (at < host.length && host.charCodeAt(at) !== DOT_CODE) at += host.charCodeAt(at) === BACKSLASH_CODE ? 2 : 1
  return Math.min(at, host.length)
}
