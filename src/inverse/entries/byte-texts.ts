/** Distinct texts as bytes, numbered in the order in which they came. No text is an object, so that none is garbage. */

import { MAX_KEY_BYTES } from './block.ts'

const INITIAL_BYTES = 2 ** 14
const INITIAL_TEXTS = 2 ** 9
/** The hash table has at least this many places for each text. */
const PLACES_PER_TEXT = 2
/** A byte, or the end of the text. */
const DIGITS_OF_BYTE = 257
/** A range of so many texts is distributed. Each distribution goes through all digits three times. */
const MIN_DISTRIBUTED = 2 ** 14
/** So many texts are sorted by insertion. */
const MAX_INSERTED = 12
/** For each digit of a distribution where its texts end. */
const digitEnds = new Uint32Array(DIGITS_OF_BYTE ** 2 + 1)

/**
 * To add a text, write it with `byte` and `text`, then call `number` or `add`. Texts have one byte per character.
 */
export class ByteTexts {
  #bytes = new Uint8Array(INITIAL_BYTES)
  /** Where each text starts, and then where the last one ends. */
  #starts = new Uint32Array(INITIAL_TEXTS)
  #end = 0
  /** Where the text that is being written ends. */
  #next = 0
  #count = 0
  /** For each place of the hash table 1 more than the number of a text; 0 if it is free. */
  #table = new Uint32Array(PLACES_PER_TEXT * INITIAL_TEXTS)

  /** Removes all texts. The memory is kept for the next ones. */
  clear(): void {
    this.#table.fill(0)
    this.#count = 0
    this.#end = 0
    this.#next = 0
  }

  /** How many texts there are. */
  get count(): number {
    return this.#count
  }

  /** Writes a byte of the next text. */
  byte(code: number): void {
    this.#bytes[this.#next++] = code
  }

  /** Writes the characters of a text from `from` to `to` (exclusive). */
  text(text: string, from = 0, to = text.length): void {
    const bytes = this.#bytes
    let next = this.#next
    for (let at = from; at < to; at++) bytes[next++] = text.charCodeAt(at)
    this.#next = next
  }

  /** Ends a text that may be known. Returns its number. */
  number(): number {
    this.#requireLength()
    const mask = this.#table.length - 1
    let place = this.#hashOf(this.#end, this.#next) & mask
    for (; this.#table[place] !== 0; place = (place + 1) & mask) {
      const known = this.#table[place]! - 1
      if (!this.#isWritten(known)) continue
      this.#next = this.#end
      return known
    }
    this.#table[place] = this.#count + 1
    return this.#append()
  }

  /** Ends a text that is not known. Returns its number. */
  add(): number {
    this.#requireLength()
    return this.#append()
  }

  #append(): number {
    this.#end = this.#next
    this.#starts[++this.#count] = this.#end
    if (this.#count + 1 === this.#starts.length) this.#growTexts()
    if (this.#end + MAX_KEY_BYTES >= this.#bytes.length) this.#bytes = withBytes(this.#bytes, 2 * this.#bytes.length)
    return this.#count - 1
  }

  /** Throws if the text that is being written is too long, and removes it. */
  #requireLength(): void {
    if (this.#next - this.#end <= MAX_KEY_BYTES) return
    this.#next = this.#end
    throw new RangeError('a key of the inverse index is too long')
  }

  /** Copies a text to `target` at `at`. Returns where it ends. */
  copy(number: number, target: Uint8Array, at: number): number {
    const bytes = this.#bytes
    const end = this.#starts[number + 1]!
    let next = at
    for (let index = this.#starts[number]!; index < end; index++) target[next++] = bytes[index]!
    return next
  }

  /** For each text its place in the order of the bytes. */
  ranks(): Uint32Array {
    const order = numbersTo(this.#count)
    this.#sort(order, 0, order.length, 0)
    const ranks = new Uint32Array(order.length)
    for (let rank = 0; rank < order.length; rank++) ranks[order[rank]!] = rank
    return ranks
  }

  /** FNV-1a. */
  #hashOf(start: number, end: number): number {
    let hash = 0x811c9dc5
    for (let at = start; at < end; at++) hash = Math.imul(hash ^ this.#bytes[at]!, 0x01000193)
    return hash ^ (hash >>> 15)
  }

  /** Whether a text is the one that is being written. */
  #isWritten(number: number): boolean {
    const start = this.#starts[number]!
    const length = this.#next - this.#end
    if (this.#starts[number + 1]! - start !== length) return false
    for (let at = length - 1; at >= 0; at--) if (this.#bytes[start + at] !== this.#bytes[this.#end + at]) return false
    return true
  }

  #growTexts(): void {
    const starts = new Uint32Array(2 * this.#starts.length)
    starts.set(this.#starts)
    this.#starts = starts
    const former = this.#table
    this.#table = new Uint32Array(PLACES_PER_TEXT * starts.length)
    const mask = this.#table.length - 1
    for (const entry of former) {
      if (entry === 0) continue
      let place = this.#hashOf(this.#starts[entry - 1]!, this.#starts[entry]!) & mask
      while (this.#table[place] !== 0) place = (place + 1) & mask
      this.#table[place] = entry
    }
  }

  /**
   * Sorts a range of texts, which are equal before the byte at `depth`. A large range is distributed by its next byte,
   * the kind of a key, or else its next two: that looks at each text once, where quicksort would do so a dozen times.
   */
  #sort(order: Uint32Array, from: number, to: number, depth: number): void {
    if (to - from < MIN_DISTRIBUTED) this.#sortByByte(order, from, to, depth)
    else {
      const length = depth === 0 ? 1 : 2
      const ranges = this.#distribute(order, from, to, depth, length)
      for (let at = 0; at < ranges.length; at += 2) this.#sort(order, ranges[at]!, ranges[at + 1]!, depth + length)
    }
  }

  /**
   * A counting sort by a digit of one or two bytes, which is a multiple of DIGITS_OF_BYTE if the text ends there.
   * Returns the ranges of the texts that are not in order yet.
   */
  #distribute(order: Uint32Array, from: number, to: number, depth: number, length: number): number[] {
    const ends = digitEnds.fill(0)
    const moved = order.slice(from, to)
    const digits = new Uint32Array(moved.length)
    for (let at = 0; at < moved.length; at++) {
      const number = moved[at]!
      const first = this.#byteAt(number, depth) + 1
      const digit = length === 1 ? first : first * DIGITS_OF_BYTE + this.#byteAt(number, depth + 1) + 1
      digits[at] = digit
      ends[digit + 1]!++
    }
    for (let digit = 0; digit + 1 < ends.length; digit++) ends[digit + 1]! += ends[digit]!
    for (let at = 0; at < moved.length; at++) order[from + ends[digits[at]!]!++] = moved[at]!
    const ranges: number[] = []
    for (let digit = 1; digit < ends.length; digit++) {
      const [start, end] = [ends[digit - 1]!, ends[digit]!]
      if (end - start > 1 && digit % DIGITS_OF_BYTE !== 0) ranges.push(from + start, from + end)
    }
    return ranges
  }

  /**
   * Three-way radix quicksort (Bentley and Sedgewick 1997), which looks at each byte that tells texts apart about once,
   * and insertion of the last few.
   */
  #sortByByte(order: Uint32Array, from: number, to: number, depth: number): void {
    let [low, high, at] = [from, to, depth]
    while (high - low > MAX_INSERTED) {
      const pivot = this.#byteAt(order[low + ((high - low) >> 1)]!, at)
      let less = low
      let greater = high
      for (let next = low; next < greater; ) {
        const byte = this.#byteAt(order[next]!, at)
        if (byte < pivot) swap(order, less++, next++)
        else if (byte > pivot) swap(order, next, --greater)
        else next++
      }
      this.#sortByByte(order, low, less, at)
      this.#sortByByte(order, greater, high, at)
      if (pivot < 0) return
      ;[low, high, at] = [less, greater, at + 1]
    }
    for (let next = low + 1; next < high; next++) {
      const number = order[next]!
      let place = next
      for (; place > low && this.#isBefore(number, order[place - 1]!, at); place--) order[place] = order[place - 1]!
      order[place] = number
    }
  }

  /** Whether a text, which is equal to another before the byte at `depth`, is before it. */
  #isBefore(number: number, other: number, depth: number): boolean {
    for (let at = depth; ; at++) {
      const [byte, otherByte] = [this.#byteAt(number, at), this.#byteAt(other, at)]
      if (byte !== otherByte || byte < 0) return byte < otherByte
    }
  }

  /** -1 after the end of the text. */
  #byteAt(number: number, at: number): number {
    const index = this.#starts[number]! + at
    return index < this.#starts[number + 1]! ? this.#bytes[index]! : -1
  }
}

export function numbersTo(count: number): Uint32Array {
  const numbers = new Uint32Array(count)
  for (let number = 0; number < count; number++) numbers[number] = number
  return numbers
}

function withBytes(bytes: Uint8Array, length: number): Uint8Array<ArrayBuffer> {
  const larger = new Uint8Array(length)
  larger.set(bytes)
  return larger
}

function swap(order: Uint32Array, a: number, b: number): void {
  const moved = order[a]!
  order[a] = order[b]!
  order[b] = moved
}
