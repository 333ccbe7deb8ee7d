/** Host names on the wire: labels behind their lengths, compressed or not (RFC 1035, chapters 3.1 and 4.1.4). */

import { BACKSLASH, decimalAt, escapeByte } from '../words/escape.ts'

const LABEL_BYTES = 63
const WIRE_BYTES = 255
const DOT = 46
const POINTER = 0xc0
/** Nobody needs more than one a label. */
const MOST_POINTERS = 127
/** Room for 255 bytes, each written as `\DDD`. */
const scratch = Buffer.alloc(4 * WIRE_BYTES)

/** What a message is that breaks a rule of its format. */
export class Malformed extends Error {}

/**
 * Writes a host in the form of parseHost, its escapes read, and says how many bytes that took, 255 at most; -1 where it is
 * no host. (dns-packet knows no escapes and writes labels of any length.)
 */
export function writeHost(host: string, into: Uint8Array, from: number): number {
  let start = from // the length byte of the label being written
  let at = from + 1
  const length = host === '.' ? 0 : host.length
  if (host === '') return -1
  for (let index = 0; index < length && at < from + WIRE_BYTES; index++) {
    let byte = host.charCodeAt(index)
    if (byte === DOT) {
      if (!endLabel(into, start, at)) return -1
      start = at++
      continue
    }
    if (byte === BACKSLASH) {
      const decimal = decimalIn(host, index + 1)
      byte = decimal < 0 ? host.charCodeAt(index + 1) : decimal
      index += decimal < 0 ? 1 : 3
    }
    if (!(byte <= 255)) return -1
    into[at++] = byte
  }
  if (length > 0 && !endLabel(into, start, at++)) return -1
  into[at - 1] = 0
  return at - from > WIRE_BYTES ? -1 : at - from
}

/** Writes the length of the label that ends at `end`; false where it has none of its own. */
function endLabel(into: Uint8Array, start: number, end: number): boolean {
  const length = end - start - 1
  into[start] = length
  return length > 0 && length <= LABEL_BYTES
}

function decimalIn(host: string, from: number): number {
  return decimalAt(Buffer.from(host.slice(from, from + 3)), 0)
}

/** A message that is read from front to back; nothing past its end is. Throws Malformed. */
export class Reader {
  readonly bytes: Uint8Array
  at: number

  constructor(bytes: Uint8Array, at: number) {
    this.bytes = bytes
    this.at = at
  }

  byte(): number {
    if (this.at >= this.bytes.length) throw new Malformed('ends too soon')
    return this.bytes[this.at++]!
  }

  /** 16 bits, unsigned. */
  short(): number {
    return (this.byte() << 8) | this.byte()
  }

  /** 32 bits, unsigned. */
  long(): number {
    return this.short() * 0x10000 + this.short()
  }

  /** The bytes themselves, not a copy. */
  take(length: number): Uint8Array {
    const end = this.at + length
    if (end > this.bytes.length) throw new Malformed('ends too soon')
    const taken = this.bytes.subarray(this.at, end)
    this.at = end
    return taken
  }

  /** A host in the form of parseHost. Pointers lead to what stands further in front, so that every name ends. */
  host(): string {
    let wire = 1
    let written = 0
    let segment = this.at
    let end = 0 // behind the first pointer
    let pointers = 0
    for (let length = this.byte(); length !== 0; length = this.byte()) {
      if (length >= POINTER) {
        const target = ((length & 0x3f) << 8) | this.byte()
        if (target >= segment || ++pointers > MOST_POINTERS) throw new Malformed('pointers that lead nowhere')
        end ||= this.at
        segment = this.at = target
        continue
      }
      wire += length + 1
      if (length > LABEL_BYTES || wire > WIRE_BYTES) throw new Malformed('a label or a name that is too long')
      if (this.at + length > this.bytes.length) throw new Malformed('ends too soon')
      if (written > 0) scratch[written++] = DOT
      written = writeLabel(this.bytes, this.at, length, written)
      this.at += length
    }
    if (end !== 0) this.at = end
    return written === 0 ? '.' : scratch.toString('latin1', 0, written)
  }

  /** Passes a name by without reading it. */
  skipHost(): void {
    for (let length = this.byte(); length !== 0; length = this.byte()) {
      if (length < POINTER) this.take(length)
      else return void this.byte()
    }
  }
}

/** Writes one label into the scratch, lower-case and escaped; where it ends there. */
function writeLabel(bytes: Uint8Array, from: number, length: number, start: number): number {
  let written = start
  for (let at = from; at < from + length; at++) {
    const byte = bytes[at]!
    if (byte === DOT || byte === BACKSLASH) {
      scratch[written++] = BACKSLASH
      scratch[written++] = byte
    } else if (byte <= 32 || byte >= 127) written += scratch.write(escapeByte(byte), written, 'latin1')
    else scratch[written++] = byte >= 65 && byte <= 90 ? byte + 32 : byte
  }
  return written
}
