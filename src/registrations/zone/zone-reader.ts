/** Reads the names of a zone (a master file, RFC 1035, section 5): the owners of NS records directly below its apex. */

import { APEX, CHILD, ZoneOwner } from './owner.ts'
import { SPACE_BYTE, ZoneTokenizer, zoneFault } from './tokenizer.ts'

export type ZoneEvents = {
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
