/** Host names on the wire: length-prefixed labels, compressed or not (RFC 1035, sections 3.1 and 4.1.4). */

import { BACKSLASH_CODE, decimalEscapeAt, escapeByte } from '../../../values/records/escape.ts'
import { MAX_LABEL_BYTES, MAX_WIRE_NAME_BYTES } from '../../../values/records/host-name.ts'

const DOT = 46
const COMPRESSION_POINTER = 0xc0
/** No name needs more than one per label. */
const MAX_POINTERS = 127
/** Fits 255 bytes, each written as `\DDD`. */
const scratch = Buffer.alloc(4 * MAX_WIRE_NAME_BYTES)

/** A message that breaks a rule of its format. */
export class MalformedMessage extends Error {}

/**
 * Writes a host in the form of parseHostName, with its escapes decoded. Returns the number of bytes, at most 255, or -1
 * if the text is not a host name. The package dns-packet supports no escapes and writes labels of any length.
 */
export function encodeHost(host: string, into: Uint8Array, from: number): number {
  let start = from // offset of the length byte of the current label
  let at = from + 1
  const length = host === '.' ? 0 : host.length
  if (host === '') return -1
  for (let index = 0; index < length && at < from + MAX_WIRE_NAME_BYTES; index++) {
    let byte = host.charCodeAt(index)
    if (byte === DOT) {
      if (!endLabel(into, start, at)) return -1
      start = at++
      continue
    }
    if (byte === BACKSLASH_CODE) {
      const decimal = decimalEscapeIn(host, index + 1)
      byte = decimal < 0 ? host.charCodeAt(index + 1) : decimal
      index += decimal < 0 ? 1 : 3
    }
    if (!(byte <= 255)) return -1
    into[at++] = byte
  }
  if (length > 0 && !endLabel(into, start, at++)) return -1
  into[at - 1] = 0
  return at - from > MAX_WIRE_NAME_BYTES ? -1 : at - from
}

/** Writes the length of the label that ends at `end`. Returns false if the label is empty or too long. */
function endLabel(into: Uint8Array, start: number, end: number): boolean {
  const length = end - start - 1
  into[start] = length
  return length > 0 && length <= MAX_LABEL_BYTES
}

function decimalEscapeIn(host: string, from: number): number {
  return decimalEscapeAt(Buffer.from(host.slice(from, from + 3)), 0)
}

/** Reads a message from front to back. Throws MalformedMessage at its end. */
export class DnsMessageReader {
  readonly bytes: Uint8Array
  offset: number

  constructor(bytes: Uint8Array, at: number) {
    this.bytes = bytes
    this.offset = at
  }

  byte(): number {
    if (this.offset >= this.bytes.length) throw new MalformedMessage('unexpected end of message')
    return this.bytes[this.offset++]!
  }

  uint16(): number {
    return (this.byte() << 8) | this.byte()
  }

  uint32(): number {
    return this.uint16() * 0x10000 + this.uint16()
  }

  /** Returns a view of the bytes, not a copy. */
  take(length: number): Uint8Array {
    const end = this.offset + length
    if (end > this.bytes.length) throw new MalformedMessage('unexpected end of message')
    const bytes = this.bytes.subarray(this.offset, end)
    this.offset = end
    return bytes
  }

  /** Reads a host in the form of parseHostName. A pointer must lead to an earlier offset, so every name ends. */
  host(): string {
    let wire = 1
    let written = 0
    let segment = this.offset
    let end = 0 // after the first pointer
    let pointers = 0
    for (let length = this.byte(); length !== 0; length = this.byte()) {
      if (length >= COMPRESSION_POINTER) {
        const target = ((length & 0x3f) << 8) | this.byte()
        if (target >= segment || ++pointers > MAX_POINTERS) throw new MalformedMessage('invalid compression pointer')
        end ||= this.offset
        segment = this.offset = target
        continue
      }
      wire += length + 1
      if (length > MAX_LABEL_BYTES || wire > MAX_WIRE_NAME_BYTES) throw new MalformedMessage('label or name too long')
      if (this.offset + length > this.bytes.length) throw new MalformedMessage('unexpected end of message')
      if (written > 0) scratch[written++] = DOT
      written = decodeLabel(this.bytes, this.offset, length, written)
      this.offset += length
    }
    if (end !== 0) this.offset = end
    return written === 0 ? '.' : scratch.toString('latin1', 0, written)
  }

  /** Skips a name without decoding it. */
  skipHost(): void {
    for (let length = this.byte(); length !== 0; length = this.byte()) {
      if (length < COMPRESSION_POINTER) this.take(length)
      else return void this.byte()
    }
  }
}

/** Writes one label into the scratch buffer, in lower case and escaped. Returns the offset after it. */
function decodeLabel(bytes: Uint8Array, from: number, length: number, start: number): number {
  let written = start
  for (let at = from; at < from + length; at++) {
    const byte = bytes[at]!
    if (byte === DOT || byte === BACKSLASH_CODE) {
      scratch[written++] = BACKSLASH_CODE
      scratch[written++] = byte
    } else if (byte <= 32 || byte >= 127) written += scratch.write(escapeByte(byte), written, 'latin1')
    else scratch[written++] = byte >= 65 && byte <= 90 ? byte + 32 : byte
  }
  return written
}
