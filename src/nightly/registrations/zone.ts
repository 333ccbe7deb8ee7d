/** Reads a zone (RFC 1035, chapter 5: a master file) for its names: the owners of NS records directly under its apex. */

import { Entries, SPACE, zoneFault } from './zone-entries.ts'
import { APEX, CHILD, Owner } from './zone-owner.ts'

export type ZoneEvents = {
  /** The first `length` of `bytes` are a name's label under the apex, in lower case; good until it returns. One name may come again. */
  onName(bytes: Uint8Array, length: number): void
  /** An owner that is a delegation, and no name that is used. */
  onUnusable(line: number, owner: Uint8Array): void
}

const DOLLAR = 36
const LETTERS = /^[a-z][a-z0-9-]*$/i
const SPAN = /^\d+$|^(\d+[smhdw])+$/i
const OTHER_CLASS = /^(CH|HS|CS|ANY|CLASS\d+)$/i

/** What is known of an owner's line: it has said how long, or which class. */
const TTL = 1
const CLASS = 2

export class ZoneReader {
  readonly #events: ZoneEvents
  readonly #owner: Owner
  readonly #entries: Entries
  #serial: number | null = null

  /** `apex`: the name of the zone in lower case, such as `gov`; null where its first record, the SOA, is to say it. */
  constructor(apex: string | null, events: ZoneEvents) {
    this.#events = events
    this.#owner = new Owner(apex === null ? null : Buffer.from(apex, 'latin1'))
    this.#entries = new Entries((bytes, from, to, line) => this.#entry(bytes, from, to, line))
  }

  /** Lines that were read whole. */
  get lines(): number {
    return this.#entries.lines
  }

  /** The name of the zone; null until it is known. */
  get apex(): string | null {
    const { apex } = this.#owner
    return apex === null ? null : textOf(apex)
  }

  /** Takes the next bytes, which it does not hold on to. Throws InputFault at what is not a master file's. */
  take(chunk: Uint8Array): void {
    this.#entries.take(chunk)
  }

  /** What the zone says of itself. Throws InputFault where it is not whole, as far as that can be told. */
  end(): { apex: string; serial: number } {
    this.#entries.end()
    const { apex } = this
    if (apex === null || this.#serial === null)
      throw zoneFault(this.lines, `there is no SOA${apex === null ? '' : ` of ${apex}`}: it is no whole zone`)
    return { apex, serial: this.#serial }
  }

  #entry(bytes: Uint8Array, from: number, to: number, line: number): void {
    if (from === to) return
    const isNamed = bytes[from]! > SPACE
    if (bytes[from] === DOLLAR) {
      this.#control(bytes, from, to, line)
      return
    }
    const ownerEnd = isNamed ? tokenEnd(bytes, from, to) : from
    if (isNamed) this.#owner.set(bytes, from, ownerEnd, line)
    const at = tokenStart(bytes, ownerEnd, to)
    if (at < to) {
      if (this.#owner.length < 0) throw zoneFault(line, 'the first record has no owner')
      this.#record(bytes, at, to, line)
    } else if (isNamed) throw zoneFault(line, 'an owner stands there without a record')
  }

  /** What stands behind the owner: `[TTL] [class] type data`, the first two in either order. */
  #record(bytes: Uint8Array, from: number, to: number, line: number): void {
    let seen = 0
    for (let at = from; ; ) {
      const end = tokenEnd(bytes, at, to)
      const what = isWord(bytes, at, end, 'in') ? CLASS : isDigit(bytes[at]!) ? TTL : 0
      const next = tokenStart(bytes, end, to)
      if (what === 0) {
        if (isWord(bytes, at, end, 'ns')) this.#delegation(line)
        else this.#other(bytes, at, end, { next, to, line })
        if (next >= to) throw zoneFault(line, 'a record has no data')
        return
      }
      if (what === TTL) expectSpan(bytes, at, end, line)
      if ((seen & what) > 0 || next >= to) throw zoneFault(line, 'a record has no type')
      seen |= what
      at = next
    }
  }

  #delegation(line: number): void {
    const owner = this.#owner
    if (owner.apex === null)
      throw zoneFault(line, 'the first record is not the SOA, which says whose zone it is: --tld says it too')
    if (owner.place !== CHILD || owner.isTold) return
    owner.isTold = true
    if (owner.isUsable()) this.#events.onName(owner.bytes, owner.label)
    else this.#events.onUnusable(line, owner.bytes.slice(0, owner.length))
  }

  #other(bytes: Uint8Array, at: number, end: number, rest: { next: number; to: number; line: number }): void {
    if (isWord(bytes, at, end, 'soa')) {
      this.#authority(bytes, rest)
      return
    }
    const type = textOf(bytes.subarray(at, Math.min(end, at + 40)))
    if (OTHER_CLASS.test(type)) throw zoneFault(rest.line, `the class is ${type}, and only IN is read`)
    if (!LETTERS.test(type)) throw zoneFault(rest.line, `${JSON.stringify(type)} is no type of record`)
  }

  /** The SOA: it may come again at the end, as in a transfer. */
  #authority(bytes: Uint8Array, { next, to, line }: { next: number; to: number; line: number }): void {
    const owner = this.#owner
    if (owner.apex === null) owner.makeApex()
    if (owner.place !== APEX) {
      const [given, mine] = [textOf(owner.bytes.subarray(0, owner.length)), textOf(owner.apex!)]
      throw zoneFault(line, `the SOA is that of ${given || 'the root'}, and the zone is that of ${mine}`)
    }
    const serial = textOf(bytes.subarray(next, to)).split(/\s+/)[2] ?? ''
    if (!/^\d{1,10}$/.test(serial)) throw zoneFault(line, 'the SOA has no serial')
    this.#serial = Number(serial)
  }

  #control(bytes: Uint8Array, from: number, to: number, line: number): void {
    const [word = '', value = ''] = textOf(bytes.subarray(from, Math.min(to, from + 2000))).split(/\s+/)
    const kind = word.toUpperCase()
    if (kind === '$TTL' && SPAN.test(value)) return
    if (kind === '$ORIGIN' && value !== '') {
      const at = tokenStart(bytes, from + word.length, to)
      this.#owner.setOrigin(bytes, at, tokenEnd(bytes, at, to), line)
    } else if (kind === '$TTL' || kind === '$ORIGIN') throw zoneFault(line, `${kind} says nothing that can be read`)
    else throw zoneFault(line, `${word.slice(0, 40)} is not read: the zone has to be given whole`)
  }
}

function tokenStart(bytes: Uint8Array, from: number, to: number): number {
  let at = from
  while (at < to && bytes[at]! <= SPACE) at++
  return at
}

function tokenEnd(bytes: Uint8Array, from: number, to: number): number {
  let at = from
  while (at < to && bytes[at]! > SPACE) at++
  return at
}

/** Whether the bytes spell a word of lower-case letters, in any letter case. */
function isWord(bytes: Uint8Array, from: number, to: number, word: string): boolean {
  if (to - from !== word.length) return false
  for (let at = 0; at < word.length; at++) if ((bytes[from + at]! | 32) !== word.charCodeAt(at)) return false
  return true
}

function isDigit(byte: number): boolean {
  return byte >= 48 && byte <= 57
}

function expectSpan(bytes: Uint8Array, from: number, to: number, line: number): void {
  for (let at = from; at < to; at++) {
    if (isDigit(bytes[at]!)) continue
    if (SPAN.test(textOf(bytes.subarray(from, to)))) return
    throw zoneFault(line, `${JSON.stringify(textOf(bytes.subarray(from, Math.min(to, from + 40))))} is no time to live`)
  }
}

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1')
}
