/**
 * Parses the owner of a zone's record: converts a written name to bytes, and finds its position relative to the apex.
 */

import { BACKSLASH_BYTE, QUOTE_BYTE, zoneFault } from './tokenizer.ts'

/** The position of an owner. `CHILD`: directly below the apex. */
export const OUTSIDE_ZONE = 0
export const APEX = 1
export const CHILD = 2

const AT_SIGN_BYTE = 64
const DOT_BYTE = 46
const ZERO_DIGIT_BYTE = 48
/** Stands for a dot within a label. No usable name contains it. */
const INNER_DOT = 0
const MAX_OWNER_LABEL_BYTES = 63 // RFC 1035, section 2.3.4
const MAX_OWNER_NAME_BYTES = 253 // the same section: 255 with the length of the first label and the root
/** The maximum length of a written name: four bytes for each byte. */
const MAX_WRITTEN_NAME_BYTES = 4 * (MAX_OWNER_NAME_BYTES + 1)

const LOWER_CASE_TABLE = Uint8Array.from({ length: 256 }, (_, byte) => (byte >= 65 && byte <= 90 ? byte + 32 : byte))
/** The bytes that usable names consist of (`values/domain-name.ts`). */
const USABLE_BYTES = new Uint8Array(256)
for (const char of 'abcdefghijklmnopqrstuvwxyz0123456789-_') USABLE_BYTES[char.charCodeAt(0)] = 1

/** A name in lower case, with dots between its labels and without a final dot. */
export type NameBytes = Uint8Array

export class ZoneOwner {
  /** The name's bytes, `length` of them. The first `label` bytes are its first label if it is a CHILD. */
  readonly bytes = new Uint8Array(MAX_OWNER_NAME_BYTES + 1)
  length = -1
  label = 0
  place = OUTSIDE_ZONE
  /** Whether it was already reported as a delegation. */
  isReported = false
  #apex: NameBytes | null
  #origin: NameBytes | null
  readonly #written = new Uint8Array(MAX_WRITTEN_NAME_BYTES)
  #size = -1

  /** `apex`: null if the SOA provides it. */
  constructor(apex: NameBytes | null) {
    this.#apex = apex
    this.#origin = apex
  }

  get apex(): NameBytes | null {
    return this.#apex
  }

  /**
   * Parses the owner in `bytes`. It is fast if the owner equals the previous one. Throws InputError for an invalid
   * name.
   */
  set(bytes: Uint8Array, from: number, to: number, line: number): void {
    const size = to - from
    if (size === this.#size && this.#isWritten(bytes, from, size)) return
    if (size > MAX_WRITTEN_NAME_BYTES) throw zoneFault(line, `a name has more than ${MAX_OWNER_NAME_BYTES} bytes`)
    for (let at = 0; at < size; at++) this.#written[at] = bytes[from + at]!
    this.#size = size
    this.length = parseOwnerName(bytes, from, to, { origin: this.#origin, out: this.bytes, line })
    this.isReported = false
    this.#updatePlace()
  }

  /** Parses the argument of $ORIGIN. */
  setOrigin(bytes: Uint8Array, from: number, to: number, line: number): void {
    const out = new Uint8Array(MAX_OWNER_NAME_BYTES + 1)
    this.#origin = out.slice(0, parseOwnerName(bytes, from, to, { origin: this.#origin, out, line }))
    this.#size = -1
  }

  /** Makes this owner the apex. */
  makeApex(): void {
    this.#apex = this.bytes.slice(0, this.length)
    this.#origin ??= this.#apex
    this.#updatePlace()
  }

  /** Returns whether its first label may be part of a usable name. */
  isUsable(): boolean {
    for (let at = 0; at < this.label; at++) if (USABLE_BYTES[this.bytes[at]!] === 0) return false
    return this.length <= MAX_OWNER_NAME_BYTES
  }

  #isWritten(bytes: Uint8Array, from: number, size: number): boolean {
    for (let at = 0; at < size; at++) if (bytes[from + at] !== this.#written[at]) return false
    return true
  }

  #updatePlace(): void {
    const apex = this.#apex
    this.label = apex === null ? 0 : this.length - apex.length - 1
    this.place = OUTSIDE_ZONE
    if (apex === null || (this.label < 1 && this.length !== apex.length)) return
    const from = this.length - apex.length
    for (let at = 0; at < apex.length; at++) if (this.bytes[from + at] !== apex[at]) return
    if (from === 0) this.place = APEX
    else if (this.bytes.indexOf(DOT_BYTE) === from - 1) this.place = CHILD
  }
}

type NameContext = { origin: NameBytes | null; out: Uint8Array; line: number }

/** Parses a written name into `out` and returns its length. Throws InputError for an invalid name. */
function parseOwnerName(bytes: Uint8Array, from: number, to: number, { origin, out, line }: NameContext): number {
  const isOrigin = to - from === 1 && bytes[from] === AT_SIGN_BYTE
  if (to - from === 1 && bytes[from] === DOT_BYTE) return 0
  let [length, start] = [0, 0]
  for (let at = isOrigin ? to : from; at < to; at++) {
    let byte = LOWER_CASE_TABLE[bytes[at]!]!
    if (byte === QUOTE_BYTE) throw zoneFault(line, 'a quoted string is in the place of a name')
    if (byte === DOT_BYTE) {
      if (length === start) throw zoneFault(line, 'a name has an empty label')
      start = length + 1
    } else if (byte === BACKSLASH_BYTE) {
      byte =
        LOWER_CASE_TABLE[
          (bytes[at + 1]! - ZERO_DIGIT_BYTE) * 100 +
            (bytes[at + 2]! - ZERO_DIGIT_BYTE) * 10 +
            bytes[at + 3]! -
            ZERO_DIGIT_BYTE
        ]!
      if (byte === DOT_BYTE) byte = INNER_DOT
      at += 3
    }
    if (length - start >= MAX_OWNER_LABEL_BYTES && byte !== DOT_BYTE)
      throw zoneFault(line, `a label has more than ${MAX_OWNER_LABEL_BYTES} bytes`)
    if (length > MAX_OWNER_NAME_BYTES) throw zoneFault(line, `a name has more than ${MAX_OWNER_NAME_BYTES} bytes`)
    out[length++] = byte
  }
  if (!isOrigin && start === length) return length - 1 // it ends with a dot
  if (origin === null) throw zoneFault(line, 'a relative name precedes any $ORIGIN: name the zone with --tld')
  return appendOrigin(origin, out, length, line)
}

/** Appends the origin to a relative name. */
function appendOrigin(origin: NameBytes, out: Uint8Array, length: number, line: number): number {
  const from = length === 0 || origin.length === 0 ? length : length + 1
  if (from + origin.length > MAX_OWNER_NAME_BYTES)
    throw zoneFault(line, `a name has more than ${MAX_OWNER_NAME_BYTES} bytes`)
  if (from > length) out[length] = DOT_BYTE
  out.set(origin, from)
  return from + origin.length
}
