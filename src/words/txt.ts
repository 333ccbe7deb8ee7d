// One character string of a TXT record: up to 255 bytes, and the text that stands for exactly these bytes.
import { isUtf8 } from 'node:buffer'
import { BACKSLASH, decimalAt, escapeByte } from './escape.ts'

const PART_BYTES = 255 // RFC 1035, chapter 3.3

/**
 * The text of a character string, decoded alone as UTF-8: a byte that is not valid, or below 0x20, or 0x7F, as `\DDD`,
 * a backslash as `\\`. Different bytes give different texts.
 */
export function textPart(bytes: Uint8Array): string {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  let text = ''
  let start = 0 // of the bytes that are not written yet
  for (let at = 0; at < buffer.length; ) {
    const length = plainLength(buffer, at)
    if (length === 0) {
      text += buffer.toString('utf8', start, at) + (buffer[at] === BACKSLASH ? '\\\\' : escapeByte(buffer[at]!))
      start = at + 1
    }
    at += length || 1
  }
  return text + buffer.toString('utf8', start)
}

/** Bytes of the character at `at`; 0 where an escape has to stand for the byte. */
function plainLength(bytes: Buffer, at: number): number {
  const lead = bytes[at]!
  if (lead < 0x80) return lead < 0x20 || lead === 0x7f || lead === BACKSLASH ? 0 : 1
  const length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2
  return at + length <= bytes.length && isUtf8(bytes.subarray(at, at + length)) ? length : 0
}

/**
 * The canonical text of a character string that somebody wrote as text: `\\` and `\DDD` are read as what they stand for,
 * any other backslash as itself, the rest as UTF-8 (a lone surrogate as U+FFFD), and the bytes are written by textPart.
 * Null where these are more than 255 bytes.
 */
export function canonicalPart(text: string): string | null {
  if (isPlain(text)) return text.length > PART_BYTES ? null : text
  const bytes = readPart(text)
  return bytes.length > PART_BYTES ? null : textPart(bytes)
}

function isPlain(text: string): boolean {
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code < 0x20 || code > 0x7e || code === BACKSLASH) return false
  }
  return true
}

function readPart(text: string): Uint8Array {
  const bytes = Buffer.from(text)
  let length = 0
  for (let at = 0; at < bytes.length; at++) {
    const escaped = bytes[at] === BACKSLASH
    const decimal = escaped ? decimalAt(bytes, at + 1) : -1
    bytes[length++] = decimal < 0 ? bytes[at]! : decimal
    if (decimal >= 0) at += 3
    else if (escaped && bytes[at + 1] === BACKSLASH) at += 1
  }
  return bytes.subarray(0, length)
}
