/** Reads the names of a zone (a master file, RFC 1035, section 5): the owners of NS records directly below its apex. */

import { BACKSLASH_BYTE, QUOTE_BYTE, SPACE_BYTE, ZoneTokenizer, zoneFault } from './tokenizer.ts'

/** The position of an owner. `CHILD`: directly below the apex. */
const OUTSIDE_ZONE = 0
const APEX = 1
const CHILD = 2

const AT_SIGN_BYTE = 64
const DOT_BYTE = 46
const ZERO_DIGIT_BYTE = 48

/** Stands for a dot within a label. No usable name contains it. */
const INNER_DOT = 0
const MAX_OWNER_LABEL_BYTES = 63
// RFC 1035, section 2.3.4
const MAX_OWNER_NAME_BYTES = 253

// the same section: 255 with the length of the first label and the root
/** The maximum length of a written name: four bytes for each byte. */
const MAX_WRITTEN_NAME_BYTES = 4 * (MAX_OWNER_NAME_BYTES + 1)

const LOWER_CASE_TABLE = Uint8Array.from({ length: 256 }, (_, byte) => (byte >= 65 && byte <= 90 ? byte + 32 : byte))

/** The bytes that usable names consist of (`values/domain-name.ts`). */
const USABLE_BYTES = new Uint8Array(256)
for (const char of 'abcdefghijklmnopqrstuvwxyz0123456789-_') USABLE_BYTES[char.charCodeAt(0)] = 1

/** A name in lower case, with dots between its labels and without a final dot. */
type NameBytes = Uint8Array

class ZoneOwner {
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

type ZoneEvents = {
  /**
   * The first `length` of `bytes` are a label below the apex, in lower case, valid until the call returns. A name may
   * repeat.
   */
  onName(bytes: Uint8Array, length: number): void
  /** A delegation whose owner is not a usable name. */
  onUnusable(line: number, owner: Uint8Array): void
}

const DOLLAR_BYTE = 36
const TYPE_PATTERN = /^[a-z][a-z0-9-]*$/i
const TTL_PATTERN = /^\d+$|^(\d+[smhdw])+$/i
const OTHER_CLASS_PATTERN = /^(CH|HS|CS|ANY|CLASS\d+)$/i

/** Whether the line already had its TTL or its class. */
const TTL_SEEN = 1
const CLASS_SEEN = 2

export class ZoneReader {
  readonly #events: ZoneEvents
  readonly #owner: ZoneOwner
  readonly tokenizer: ZoneTokenizer
  #serial: number | null = null

  /** `apex`: the zone's name in lower case, such as `gov`, or null if the SOA, its first record, provides it. */
  constructor(apex: string | null, events: ZoneEvents) {
    this.#events = events
    this.#owner = new ZoneOwner(apex === null ? null : Buffer.from(apex, 'latin1'))
    this.tokenizer = new ZoneTokenizer((bytes, from, to, line) => this.onEntry(bytes, from, to, line))
  }

  /** The number of complete lines read. */
  get lines(): number {
    return this.tokenizer.lines
  }

  /** The zone's name, or null if it is not yet known. */
  get apex(): string | null {
    const { apex } = this.#owner
    return apex === null ? null : latin1Text(apex)
  }

  /** Reads the next bytes and keeps no reference to them. Throws InputError for an invalid master file. */
  push(chunk: Uint8Array): void {
    this.tokenizer.push(chunk)
  }

  /** Returns the zone's apex and serial. Throws InputError if the zone is detectably incomplete. */
  end(): { apex: string; serial: number } {
    this.tokenizer.end()
    const { apex } = this
    if (apex === null || this.#serial === null)
      throw zoneFault(this.lines, `there is no SOA${apex === null ? '' : ` of ${apex}`}: the zone is incomplete`)
    return { apex, serial: this.#serial }
  }

  onEntry(bytes: Uint8Array, from: number, to: number, line: number): void {
    if (from === to) return
    const isNamed = bytes[from]! > SPACE_BYTE
    if (bytes[from] === DOLLAR_BYTE) {
      this.#control(bytes, from, to, line)
      return
    }
    const ownerEnd = isNamed ? tokenEnd(bytes, from, to) : from
    if (isNamed) this.#owner.set(bytes, from, ownerEnd, line)
    const at = tokenStart(bytes, ownerEnd, to)
    if (at < to) {
      if (this.#owner.length < 0) throw zoneFault(line, 'the first record has no owner')
      this.#record(bytes, at, to, line)
    } else if (isNamed) throw zoneFault(line, 'an owner has no record')
  }

  /** Parses what follows the owner: `[TTL] [class] type data`, the first two in either order. */
  #record(bytes: Uint8Array, from: number, to: number, line: number): void {
    let seenFields = 0
    for (let at = from; ; ) {
      const end = tokenEnd(bytes, at, to)
      const what = equalsIgnoreCase(bytes, at, end, 'in') ? CLASS_SEEN : isAsciiDigit(bytes[at]!) ? TTL_SEEN : 0
      const next = tokenStart(bytes, end, to)
      if (what === 0) {
        if (equalsIgnoreCase(bytes, at, end, 'ns')) this.#delegation(line)
        else this.#other(bytes, at, end, { next, to, line })
        if (next >= to) throw zoneFault(line, 'a record has no data')
        return
      }
      if (what === TTL_SEEN) requireTtl(bytes, at, end, line)
      if ((seenFields & what) > 0 || next >= to) throw zoneFault(line, 'a record has no type')
      seenFields |= what
      at = next
    }
  }

  #delegation(line: number): void {
    const owner = this.#owner
    if (owner.apex === null)
      throw zoneFault(line, 'the first record is not the SOA, which names the zone: name it with --tld')
    if (owner.place !== CHILD || owner.isReported) return
    owner.isReported = true
    if (owner.isUsable()) this.#events.onName(owner.bytes, owner.label)
    else this.#events.onUnusable(line, owner.bytes.slice(0, owner.length))
  }

  #other(bytes: Uint8Array, at: number, end: number, rest: { next: number; to: number; line: number }): void {
    if (equalsIgnoreCase(bytes, at, end, 'soa')) {
      this.#authority(bytes, rest)
      return
    }
    const type = latin1Text(bytes.subarray(at, Math.min(end, at + 40)))
    if (OTHER_CLASS_PATTERN.test(type)) throw zoneFault(rest.line, `the class is ${type}, and only IN is read`)
    if (!TYPE_PATTERN.test(type)) throw zoneFault(rest.line, `${JSON.stringify(type)} is not a record type`)
  }

  /** Parses the SOA, which may be repeated at the end, as in a zone transfer. */
  #authority(bytes: Uint8Array, { next, to, line }: { next: number; to: number; line: number }): void {
    const owner = this.#owner
    if (owner.apex === null) owner.makeApex()
    if (owner.place !== APEX) {
      const [soaOwner, apexName] = [latin1Text(owner.bytes.subarray(0, owner.length)), latin1Text(owner.apex!)]
      throw zoneFault(line, `the SOA is that of ${soaOwner || 'the root'}, and the zone is that of ${apexName}`)
    }
    const serial = latin1Text(bytes.subarray(next, to)).split(/\s+/)[2] ?? ''
    if (!/^\d{1,10}$/.test(serial)) throw zoneFault(line, 'the SOA has no serial')
    this.#serial = Number(serial)
  }

  #control(bytes: Uint8Array, from: number, to: number, line: number): void {
    const [word = '', value = ''] = latin1Text(bytes.subarray(from, Math.min(to, from + 2000))).split(/\s+/)
    const kind = word.toUpperCase()
    if (kind === '$TTL' && TTL_PATTERN.test(value)) return
    if (kind === '$ORIGIN' && value !== '') {
      const at = tokenStart(bytes, from + word.length, to)
      this.#owner.setOrigin(bytes, at, tokenEnd(bytes, at, to), line)
    } else if (kind === '$TTL' || kind === '$ORIGIN') throw zoneFault(line, `${kind} has no valid value`)
    else throw zoneFault(line, `${word.slice(0, 40)} is not supported: provide the complete zone`)
  }
}

function tokenStart(bytes: Uint8Array, from: number, to: number): number {
  let at = from
  while (at < to && bytes[at]! <= SPACE_BYTE) at++
  return at
}

function tokenEnd(bytes: Uint8Array, from: number, to: number): number {
  let at = from
  while (at < to && bytes[at]! > SPACE_BYTE) at++
  return at
}

/** Returns whether the bytes equal a lower-case word, ignoring case. */
function equalsIgnoreCase(bytes: Uint8Array, from: number, to: number, word: string): boolean {
  if (to - from !== word.length) return false
  for (let at = 0; at < word.length; at++) if ((bytes[from + at]! | 32) !== word.charCodeAt(at)) return false
  return true
}

function isAsciiDigit(byte: number): boolean {
  return byte >= 48 && byte <= 57
}

function requireTtl(bytes: Uint8Array, from: number, to: number, line: number): void {
  for (let at = from; at < to; at++) {
    if (isAsciiDigit(bytes[at]!)) continue
    if (TTL_PATTERN.test(latin1Text(bytes.subarray(from, to)))) return
    throw zoneFault(
      line,
      `${JSON.stringify(latin1Text(bytes.subarray(from, Math.min(to, from + 40))))} is not a valid TTL`,
    )
  }
}

function latin1Text(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1')
}

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
