/** Writes the records of a zone as lines of a master file (RFC 1035, section 5.1) into blocks of bytes. */

import { MalformedMessage } from '../../probe/dns/message/wire-name.ts'

const BLOCK_BYTES = 262_144
/** The longest line: two names of an SOA in escaped form, and numbers. */
const MAX_LINE_BYTES = 4_096
const MAX_NAME_BYTES = 255
const MAX_POINTERS = 127
const COMPRESSION_POINTER = 0xc0
const DOT_BYTE = 46
const SPACE_BYTE = 32
const NEWLINE_BYTE = 10
const BACKSLASH_BYTE = 92
const ZERO_BYTE = 48
/** The byte in a master file of each byte of a name: letters in lower case; 0 if it needs an escape. */
const PLAIN_BYTES = Uint8Array.from({ length: 256 }, (_, byte) => {
  const character = String.fromCharCode(byte)
  return /[a-zA-Z0-9_-]/.test(character) ? character.toLowerCase().charCodeAt(0) : 0
})

export class ZoneText {
  readonly #onBlock: (block: Buffer) => void
  #block = Buffer.allocUnsafe(BLOCK_BYTES + MAX_LINE_BYTES)
  #length = 0

  /** `onBlock` receives the blocks in their order, and owns them. */
  constructor(onBlock: (block: Buffer) => void) {
    this.#onBlock = onBlock
  }

  get block(): Buffer {
    return this.#block
  }

  /** The position at which the next bytes are written. */
  get length(): number {
    return this.#length
  }

  /** Takes back what was written from a position on. */
  rewind(position: number): void {
    this.#length = position
  }

  text(text: string): void {
    this.#length += this.#block.write(text, this.#length, 'latin1')
  }

  space(): void {
    this.#block[this.#length++] = SPACE_BYTE
  }

  /** Ends a line. The positions before are then invalid. */
  endLine(): void {
    this.#block[this.#length++] = NEWLINE_BYTE
    if (this.#length >= BLOCK_BYTES) this.flush()
  }

  flush(): void {
    if (this.#length === 0) return
    this.#onBlock(this.#block.subarray(0, this.#length))
    this.#block = Buffer.allocUnsafe(BLOCK_BYTES + MAX_LINE_BYTES)
    this.#length = 0
  }

  /**
   * Writes the name at an offset of a message with its final dot, `.` for the root. Returns the offset after the name.
   * Throws MalformedMessage if it is invalid. A pointer must lead to an earlier offset, so every name ends.
   */
  name(message: Uint8Array, offset: number): number {
    const block = this.#block
    let to = this.#length
    let at = offset
    let [end, segment, wire, pointers] = [-1, offset, 1, 0]
    for (;;) {
      const length = message[at++]
      if (length === undefined) throw new MalformedMessage('unexpected end of message')
      if (length === 0) break
      if (length >= COMPRESSION_POINTER) {
        const target = ((length & 0x3f) << 8) | (message[at++] ?? 0)
        if (end < 0) end = at
        if (target >= segment || ++pointers > MAX_POINTERS) throw new MalformedMessage('invalid compression pointer')
        at = segment = target
        continue
      }
      wire += length + 1
      if (length > 63 || wire > MAX_NAME_BYTES || at + length > message.length)
        throw new MalformedMessage('label or name too long')
      for (const last = at + length; at < last; at++) {
        const byte = message[at]!
        const plain = PLAIN_BYTES[byte]!
        if (plain !== 0) block[to++] = plain
        else to = writeEscape(block, to, byte)
      }
      block[to++] = DOT_BYTE
    }
    if (to === this.#length) block[to++] = DOT_BYTE
    this.#length = to
    return end < 0 ? at : end
  }
}

/** `\DDD`. */
function writeEscape(block: Uint8Array, at: number, byte: number): number {
  block[at] = BACKSLASH_BYTE
  block[at + 1] = ZERO_BYTE + Math.floor(byte / 100)
  block[at + 2] = ZERO_BYTE + (Math.floor(byte / 10) % 10)
  block[at + 3] = ZERO_BYTE + (byte % 10)
  return at + 4
}
