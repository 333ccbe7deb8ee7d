/**
 * Splits the bytes of a master file (RFC 1035, section 5.1) into entries without comments, parentheses and line ends.
 */

import { InputError } from '../../import/stream/input-error.ts'

/**
 * Called for each entry with the bytes from `from` to before `to`, valid until it returns, and the entry's first line.
 * Escapes become `\DDD` in any case. A quoted string becomes one `"`, because no used field is quoted.
 */
type OnZoneEntry = (bytes: Uint8Array, from: number, to: number, line: number) => void

/** Maximum size of an entry with its comments and line ends. */
export const MAX_RECORD_BYTES = 65_536

const NEWLINE_BYTE = 10
const CARRIAGE_RETURN_BYTE = 13
export const SPACE_BYTE = 32
export const QUOTE_BYTE = 34
const OPEN_PARENTHESIS_BYTE = 40
const CLOSE_PARENTHESIS_BYTE = 41
const SEMICOLON_BYTE = 59
export const BACKSLASH_BYTE = 92
const ZERO_BYTE = 48

const SPECIAL_BYTES = [QUOTE_BYTE, OPEN_PARENTHESIS_BYTE, CLOSE_PARENTHESIS_BYTE, SEMICOLON_BYTE, BACKSLASH_BYTE]
const IS_ORDINARY = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte === NEWLINE_BYTE || SPECIAL_BYTES.includes(byte) ? 0 : 1,
)

/** Returns an error about the zone that names the line. */
export function zoneFault(line: number, message: string): InputError {
  return new InputError(`line ${line}: ${message}`)
}

export class ZoneTokenizer {
  readonly #onEntry: OnZoneEntry
  readonly #scratch = new Uint8Array(2 * MAX_RECORD_BYTES + 4)
  #rest: Uint8Array = new Uint8Array(0)
  /** The first line of the next entry. */
  #line = 1

  constructor(onEntry: OnZoneEntry) {
    this.#onEntry = onEntry
  }

  /** The number of complete lines read. */
  get lines(): number {
    return this.#line - 1
  }

  /** Reads the next bytes and keeps no reference to them. Throws InputError if they are not valid in a master file. */
  push(chunk: Uint8Array): void {
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk])
    const nextSpecial = specialByteFinder(bytes)
    let from = 0
    for (let special = nextSpecial(0); ; ) {
      let end = bytes.indexOf(NEWLINE_BYTE, from)
      if (special < (end < 0 ? bytes.length : end)) {
        end = this.#special(bytes, from)
        special = nextSpecial(end)
      } else if (end - from > MAX_RECORD_BYTES) throw this.#tooLong()
      else if (end >= 0) this.#onEntry(bytes, from, end, this.#line++)
      if (end < 0) break
      from = end + 1
    }
    if (bytes.length - from > MAX_RECORD_BYTES) throw this.#tooLong()
    this.#rest = bytes.slice(from)
  }

  /** Throws InputError if the file ends within an entry, because every entry needs a line end. */
  end(): void {
    if (this.#rest.some((byte) => byte > SPACE_BYTE))
      throw zoneFault(this.#line, 'the file ends within the line: it is truncated')
  }

  /** Reads an entry with special characters. Returns the index of its line end, or -1 if that has not arrived yet. */
  #special(bytes: Uint8Array, from: number): number {
    const limit = Math.min(bytes.length, from + MAX_RECORD_BYTES + 1)
    let line = this.#line
    let depth = 0
    let out = 0
    for (let at = from; at < limit; at++) {
      const byte = bytes[at]!
      if (IS_ORDINARY[byte] === 1) this.#scratch[out++] = byte
      else if (byte === NEWLINE_BYTE) {
        if (depth === 0) return this.#finish(out, at, line)
        line++
        this.#scratch[out++] = SPACE_BYTE
      } else if (byte === BACKSLASH_BYTE) {
        const value = escapedByte(bytes, at, line)
        if (value < 0) return -1
        out = writeEscape(this.#scratch, out, value)
        at += isDigitByte(bytes[at + 1]!) ? 3 : 1
      } else {
        if (byte === OPEN_PARENTHESIS_BYTE) depth++
        if (byte === CLOSE_PARENTHESIS_BYTE && depth-- === 0)
          throw zoneFault(line, 'a closing parenthesis has no opening one')
        if (out > 0) this.#scratch[out++] = SPACE_BYTE
        if (byte === QUOTE_BYTE) this.#scratch[out++] = QUOTE_BYTE
        const end =
          byte === QUOTE_BYTE
            ? endOfQuoted(bytes, at, line)
            : byte === SEMICOLON_BYTE
              ? bytes.indexOf(NEWLINE_BYTE, at) - 1
              : at
        if (end < at) return -1
        at = end
      }
    }
    if (bytes.length > limit || bytes.length - from > MAX_RECORD_BYTES) throw this.#tooLong()
    return -1
  }

  #finish(out: number, at: number, line: number): number {
    this.#onEntry(this.#scratch, 0, out, this.#line)
    this.#line = line + 1
    return at
  }

  #tooLong(): InputError {
    return zoneFault(this.#line, `a record has more than ${MAX_RECORD_BYTES} bytes`)
  }
}

/** Finds the next special byte. One search per special character is much faster than a loop over all bytes. */
function specialByteFinder(bytes: Uint8Array): (from: number) => number {
  const next = SPECIAL_BYTES.map(() => -1)
  return (from) => {
    for (const [kind, byte] of SPECIAL_BYTES.entries()) {
      if (next[kind]! >= from) continue
      const found = bytes.indexOf(byte, from)
      next[kind] = found < 0 ? Number.POSITIVE_INFINITY : found
    }
    return Math.min(...next)
  }
}

/** Returns the byte of an escape, or -1 if the escape is incomplete. */
function escapedByte(bytes: Uint8Array, at: number, line: number): number {
  const next = bytes[at + 1] ?? -1
  if (next === NEWLINE_BYTE || next === CARRIAGE_RETURN_BYTE) throw zoneFault(line, 'a backslash ends the line')
  if (!isDigitByte(next)) return next
  const digits = bytes.subarray(at + 1, at + 4)
  if (digits.every(isDigitByte) && digits.length < 3) return -1
  const value = digits.reduce((sum, digit) => (isDigitByte(digit) ? sum * 10 + digit - ZERO_BYTE : Number.NaN), 0)
  if (!(value < 256)) throw zoneFault(line, 'an escape needs three digits, 255 at most')
  return value
}

/** Writes `\DDD` at a position, and returns the position after it. */
export function writeEscape(out: Uint8Array, at: number, value: number): number {
  out[at] = BACKSLASH_BYTE
  out[at + 1] = ZERO_BYTE + Math.floor(value / 100)
  out[at + 2] = ZERO_BYTE + (Math.floor(value / 10) % 10)
  out[at + 3] = ZERO_BYTE + (value % 10)
  return at + 4
}

/** Returns the index of the closing quote, or -1 if it has not arrived yet. */
function endOfQuoted(bytes: Uint8Array, from: number, line: number): number {
  for (let at = from + 1; at < bytes.length; at++) {
    const byte = bytes[at]!
    if (byte === QUOTE_BYTE) return at
    if (byte === NEWLINE_BYTE) throw zoneFault(line, 'a quoted string does not end on its line')
    if (byte === BACKSLASH_BYTE && bytes[at + 1] !== NEWLINE_BYTE) at++
  }
  return -1
}

function isDigitByte(byte: number): boolean {
  return byte >= ZERO_BYTE && byte <= ZERO_BYTE + 9
}
