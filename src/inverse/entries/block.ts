/**
 * Blocks of a sorted run of the inverse index: some dozen entries in the order of their keys, packed.
 *
 * An entry is a key and a list of events: the observations at which a record appeared (2 * seconds) and the last ones
 * before it disappeared (2 * seconds + 1), ascending. The key of a set of names has no events. A block is:
 *
 *     base, then for each entry: shared, length, bytes of the key after the shared ones, count, events
 *
 * The count is left out if the key is a rotated name, which has no events and is most of the entries.
 * All numbers are variable-length integers (7 bits a byte, low ones first). `shared` are the bytes that the key has in
 * common with the one before. An event is stored as its difference from the one before, the first as that from `base`.
 */

import { KEY_KIND } from './value-key.ts'

/** A block is complete at this many bytes. One row of this size fits four times on a page of SQLite. */
const BLOCK_BYTES = 880
/** Entries with more events continue in the next block. */
const MAX_EVENTS = 128
/**
 * No key is longer: a host of 255 bytes in wire form, of which each may take four in presentation form (1,004 with its
 * dots), an owner of 253, and a few bytes of kind, type and detail.
 */
export const MAX_KEY_BYTES = 1280
const EVENT_BYTES = 5
const MAX_EVENT = 2 ** (8 * EVENT_BYTES) - 1
/** The factor of the last byte that a number may have: the difference of two events has six bytes. */
const MAX_FACTOR = 2 ** 42
const ROTATED_NAME = KEY_KIND.rotatedName.charCodeAt(0)
/** Between key and event of a position. No byte of the end of a key is lower. */
const POSITION_SEPARATOR = 0
/** The bytes of a position after its key. */
export const POSITION_TAIL_BYTES = 1 + EVENT_BYTES

/** A packed block, and the position of its last event (`positionOf`). */
export type Block = { last: Uint8Array; bytes: Uint8Array }

/** The bytes of blocks and their positions. */
export function bytesOfBlocks(blocks: readonly Block[]): number {
  return blocks.reduce((sum, { last, bytes }) => sum + last.length + bytes.length, 0)
}

/** The event of a record that an observation at `at` showed for the first time. */
export function startEvent(at: number): number {
  return 2 * at
}

/** The event of a record that an observation at `at` showed for the last time. */
export function endEvent(at: number): number {
  return 2 * at + 1
}

/** The observation of an event. */
export function timeOfEvent(event: number): number {
  return Math.floor(event / 2)
}

/**
 * A place in a run: a key, 0, and an event as five bytes. Positions sort as entries do. `event` 0 is the first place of
 * a key, and the only one in a set of names.
 */
export function positionOf(key: string, event: number): string {
  const low = event >>> 0
  const high = Math.floor(event / 2 ** 32)
  return `${key}\x00${String.fromCharCode(high, low >>> 24, (low >>> 16) & 255, (low >>> 8) & 255, low & 255)}`
}

/** The key of a position. */
export function keyOfPosition(position: string): string {
  return position.slice(0, -POSITION_TAIL_BYTES)
}

/** The event of a position. */
export function eventOfPosition(position: string): number {
  let event = 0
  for (let at = position.length - EVENT_BYTES; at < position.length; at++) event = event * 256 + position.charCodeAt(at)
  return event
}

/** Packs entries into blocks. Call `add` in the order of the keys; an equal key continues the entry before it. */
export class BlockWriter {
  readonly #finished: Block[] = []
  readonly #buffer = Buffer.alloc(BLOCK_BYTES + 2 * MAX_KEY_BYTES + (MAX_EVENTS + 8) * 6)
  readonly #key = new Uint8Array(MAX_KEY_BYTES)
  #keyLength = 0
  #end = 0
  #base = 0
  #lastEvent = 0

  /**
   * Adds an entry of which `key` has the first `length` bytes and `events` the first `count` numbers. `known`: bytes that
   * the key is known to share with the one before.
   */
  add(key: Uint8Array, length: number, events: ArrayLike<number>, count: number, known = 0): void {
    for (let from = 0; from === 0 || from < count; from += MAX_EVENTS)
      this.#addPart(key, length, events, from, Math.min(count, from + MAX_EVENTS), known)
  }

  /** Returns the blocks that are complete, and with `all` the last one too. The caller owns them. */
  take(all: boolean): Block[] {
    if (all) this.#finishBlock()
    return this.#finished.splice(0)
  }

  #addPart(key: Uint8Array, length: number, events: ArrayLike<number>, from: number, to: number, known: number): void {
    if (this.#end === 0) this.#beginBlock(to > from ? events[from]! : 0)
    const most = Math.min(length, this.#keyLength)
    let shared = Math.min(known, most)
    while (shared < most && key[shared] === this.#key[shared]) shared++
    this.#writeNumber(shared)
    this.#writeNumber(length - shared)
    for (let at = shared; at < length; at++) {
      this.#key[at] = key[at]!
      this.#buffer[this.#end++] = key[at]!
    }
    this.#keyLength = length
    if (hasCount(key)) this.#writeNumber(to - from)
    else if (to > from) throw new RangeError('a rotated name has no events')
    let before = this.#base
    for (let at = from; at < to; at++) {
      const event = events[at]!
      if (at === from) this.#writeSigned(event - before)
      else this.#writeNumber(event - before)
      before = event
    }
    this.#lastEvent = to > from ? before : 0
    if (this.#end >= BLOCK_BYTES) this.#finishBlock()
  }

  #beginBlock(base: number): void {
    this.#base = base
    this.#writeNumber(base)
  }

  #finishBlock(): void {
    if (this.#end === 0) return
    const last = Buffer.alloc(this.#keyLength + POSITION_TAIL_BYTES)
    last.set(this.#key.subarray(0, this.#keyLength))
    last[this.#keyLength] = POSITION_SEPARATOR
    last.writeUIntBE(this.#lastEvent, this.#keyLength + 1, EVENT_BYTES)
    this.#finished.push({ last, bytes: Buffer.from(this.#buffer.subarray(0, this.#end)) })
    this.#end = 0
    this.#keyLength = 0
  }

  #writeNumber(value: number): void {
    let rest = value
    while (rest >= 128) {
      this.#buffer[this.#end++] = (rest % 128) | 128
      rest = Math.floor(rest / 128)
    }
    this.#buffer[this.#end++] = rest
  }

  /** Zigzag: the first event of an entry may be before that of the block. */
  #writeSigned(value: number): void {
    this.#writeNumber(value < 0 ? -2 * value - 1 : 2 * value)
  }
}

/** Reads the entries of consecutive blocks, one after another. */
export class EntryCursor {
  /** The key of the current entry: the first `keyLength` bytes. */
  readonly key = Buffer.allocUnsafe(MAX_KEY_BYTES)
  keyLength = 0
  /** The bytes that the current key has in common with the one before. */
  shared = 0
  /** The events of the current entry: the first `eventCount` numbers. */
  readonly events: number[] = []
  eventCount = 0
  readonly #blocks: readonly Uint8Array[]
  #block = 0
  #at = 0
  #base = 0

  constructor(blocks: readonly Uint8Array[]) {
    this.#blocks = blocks
    this.key[0] = 0
  }

  /** Moves to the next entry. Returns false at the end. Throws RangeError if a block is damaged. */
  next(): boolean {
    const bytes = this.#readKey()
    if (bytes === null) return false
    this.#readEvents(bytes)
    return true
  }

  /**
   * Moves on to the next entry whose key is `from` or later, or whose key `from` is a position of. It reads the events
   * of no entry before that one. Returns and throws as `next`.
   */
  seek(from: Uint8Array): boolean {
    let equal = -1 // bytes that the key before had in common with `from`, at which it was lower; -1 if it is not known
    for (let bytes = this.#readKey(); bytes !== null; bytes = this.#readKey()) {
      if (equal < 0 || this.shared <= equal) {
        const { key, keyLength } = this
        equal = equal < 0 ? 0 : this.shared
        while (equal < keyLength && key[equal] === from[equal]) equal++
        const isWhole = equal === keyLength
        const isBefore = isWhole ? equal < from.length : key[equal]! < from[equal]!
        const isPosition = isWhole && from.length === equal + POSITION_TAIL_BYTES && from[equal] === POSITION_SEPARATOR
        if (!isBefore || isPosition) {
          this.#readEvents(bytes)
          return true
        }
      }
      this.#skipEvents(bytes)
    }
    return false
  }

  /** Moves to the next key. Returns the block in which its events follow; null at the end. */
  #readKey(): Uint8Array | null {
    while (this.#block < this.#blocks.length && this.#at >= this.#blocks[this.#block]!.length) {
      this.#block++
      this.#at = 0
    }
    const bytes = this.#blocks[this.#block]
    if (bytes === undefined) return null
    const isFirst = this.#at === 0
    if (isFirst) this.#base = this.#readNumber(bytes)
    let shared = this.#readNumber(bytes)
    const length = shared + this.#readNumber(bytes)
    if (shared > (isFirst ? 0 : this.keyLength) || length > MAX_KEY_BYTES) throw damagedBlock()
    const key = this.key
    let next = this.#at
    for (const most = Math.min(length, this.keyLength); shared < most && key[shared] === bytes[next]; shared++) next++
    for (let at = shared; at < length; at++) key[at] = bytes[next++]!
    this.#at = next
    this.keyLength = length
    this.shared = shared
    return bytes
  }

  #readEvents(bytes: Uint8Array): void {
    this.eventCount = this.#readCount(bytes)
    let event = this.#base
    for (let index = 0; index < this.eventCount; index++) {
      const value = this.#readNumber(bytes)
      if (index > 0) event += value
      else event += value % 2 === 1 ? -(value + 1) / 2 : value / 2
      this.events[index] = event
    }
    const isInRange = this.eventCount === 0 || (this.events[0]! >= 0 && event <= MAX_EVENT)
    if (this.#at > bytes.length || !isInRange) throw damagedBlock()
  }

  #skipEvents(bytes: Uint8Array): void {
    for (let left = this.#readCount(bytes); left > 0; left--) {
      while (bytes[this.#at]! >= 128) this.#at++
      this.#at++
    }
    if (this.#at > bytes.length) throw damagedBlock()
  }

  #readCount(bytes: Uint8Array): number {
    const count = hasCount(this.key) ? this.#readNumber(bytes) : 0
    if (count > MAX_EVENTS) throw damagedBlock()
    return count
  }

  #readNumber(bytes: Uint8Array): number {
    let byte = bytes[this.#at++]!
    if (byte < 128) return byte
    let value = byte & 127
    for (let factor = 128; byte >= 128; factor *= 128) {
      if (factor > MAX_FACTOR) throw damagedBlock()
      byte = bytes[this.#at++] ?? 0
      value += (byte & 127) * factor
    }
    return value
  }
}

function hasCount(key: Uint8Array): boolean {
  return key[0] !== ROTATED_NAME
}

function damagedBlock(): RangeError {
  return new RangeError('damaged block of the inverse index')
}
