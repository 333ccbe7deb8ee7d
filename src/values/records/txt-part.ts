/** Encodes and decodes one character string of a TXT record: up to 255 bytes. */
import { isUtf8 } from 'node:buffer'
import { BACKSLASH_CODE, decimalEscapeAt, escapeByte } from './escape.ts'

export const MAX_TXT_PART_BYTES = 255 // RFC 1035, section 3.3

/**
 * Returns the text of a character string. It decodes the bytes as UTF-8 and writes invalid bytes, bytes below 0x20 and
 * 0x7F as `\DDD`, and a backslash as `\\`. Different bytes give different texts.
 */
export function encodeTxtPart(bytes: Uint8Array): string {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  let text = ''
  let start = 0 // of the bytes that are not written yet
  for (let at = 0; at < buffer.length; ) {
    const length = unescapedLength(buffer, at)
    if (length === 0) {
      text += buffer.toString('utf8', start, at) + (buffer[at] === BACKSLASH_CODE ? '\\\\' : escapeByte(buffer[at]!))
      start = at + 1
    }
    at += length || 1
  }
  return text + buffer.toString('utf8', start)
}

/** The number of bytes of the character at `at`; 0 if the byte needs an escape. */
function unescapedLength(bytes: Buffer, at: number): number {
  const lead = bytes[at]!
  if (lead < 0x80) return lead < 0x20 || lead === 0x7f || lead === BACKSLASH_CODE ? 0 : 1
  const length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2
  return at + length <= bytes.length && isUtf8(bytes.subarray(at, at + length)) ? length : 0
}

/**
 * Returns the canonical text of a character string. It decodes `\\` and `\DDD`, keeps any other backslash, and reads
 * the rest as UTF-8 (a lone surrogate as U+FFFD). encodeTxtPart then encodes the bytes. Returns null for more than 255
 * bytes.
 */
export function canonicalTxtPart(text: string): string | null {
  if (isPlainAscii(text)) return text.length > MAX_TXT_PART_BYTES ? null : text
  const bytes = decodeTxtPart(text)
  return bytes.length > MAX_TXT_PART_BYTES ? null : encodeTxtPart(bytes)
}

function isPlainAscii(text: string): boolean {
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code < 0x20 || code > 0x7e || code === BACKSLASH_CODE) return false
  }
  return true
}

function decodeTxtPart(text: string): Uint8Array {
  const bytes = Buffer.from(text)
  let length = 0
  for (let at = 0; at < bytes.length; at++) {
    const escaped = bytes[at] === BACKSLASH_CODE
    const decimal = escaped ? decimalEscapeAt(bytes, at + 1) : -1
    bytes[length++] = decimal < 0 ? bytes[at]! : decimal
    if (decimal >= 0) at += 3
    else if (escaped && bytes[at + 1] === BACKSLASH_CODE) at += 1
  }
  return bytes.subarray(0, length)
}
