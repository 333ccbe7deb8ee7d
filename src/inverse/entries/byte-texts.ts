/** Distinct texts as bytes, numbered in the order in which they came. No text is an object, so that none is garbage. */

import { MAX_KEY_BYTES } from './block.ts'

const INITIAL_BYTES = 2 ** 14
const INITIAL_TEXTS = 2 ** 9
/** The hash table has at least this many places for each text. */
const PLACES_PER_TEXT = 2

/**
 * To add a text, write it with `byte` and `text`, then call `number` or `add`. Texts have one byte per character.
 */
export class ByteTexts {
  #bytes = new Uint8Array(INITIAL_BYTES)
  /** Where each text starts; the last one ends at `#end`. */
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
    const mask = this.#table.length - 1
    let place = this.#hashOf(this.#end, this.#next) & mask
    for (; this.#table[place] !== 0; place = (place + 1) & mask) {
      const known = this.#table[place]! - 1
      if (!this.#isWritten(known)) continue
      this.#next = this.#end
      return known
    }
    this.#table[place] = this.#count + 1
    return this.add()
  }

  /** Ends a text that is not known. Returns its number. */
  add(): number {
    if (this.#next - this.#end > MAX_KEY_BYTES) throw new RangeError('a key of the inverse index is too long')
    this.#starts[this.#count++] = this.#end
    this.#end = this.#next
    if (this.#count === this.#starts.length) this.#growTexts()
    if (this.#end + MAX_KEY_BYTES >= this.#bytes.length) this.#bytes = withBytes(this.#bytes, 2 * this.#bytes.length)
    return this.#count - 1
  }

  /** Copies a text to `target` at `at`. Returns where it ends. */
  copy(number: number, target: Uint8Array, at: number): number {
    const start = this.#starts[number]!
    const length = this.#endOf(number) - start
    for (let index = 0; index < length; index++) target[at + index] = this.#bytes[start + index]!
    return at + length
  }

  /** For each text its place in the order of the bytes. */
  ranks(): Uint32Array {
    const order = numbersTo(this.#count)
    this.#sort(order, 0, order.length, 0)
    const ranks = new Uint32Array(order.length)
    for (let rank = 0; rank < order.length; rank++) ranks[order[rank]!] = rank
    return ranks
  }

  #endOf(number: number): number {
    return number + 1 < this.#count ? this.#starts[number + 1]! : this.#end
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
    if (this.#endOf(number) - start !== length) return false
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
      let place = this.#hashOf(this.#starts[entry - 1]!, this.#endOf(entry - 1)) & mask
      while (this.#table[place] !== 0) place = (place + 1) & mask
      this.#table[place] = entry
    }
  }

  /**
   * Sorts a range of texts, which are equal before the byte at `depth`: three-way radix quicksort (Bentley and Sedgewick
   * 1997), which looks at each byte that tells texts apart about once.
   */
  #sort(order: Uint32Array, from: number, to: number, depth: number): void {
    let [low, high, at] = [from, to, depth]
    while (high - low > 1) {
      const pivot = this.#byteAt(order[low + ((high - low) >> 1)]!, at)
      let less = low
      let greater = high
      for (let next = low; next < greater; ) {
        const byte = this.#byteAt(order[next]!, at)
        if (byte < pivot) swap(order, less++, next++)
        else if (byte > pivot) swap(order, next, --greater)
        else next++
      }
      this.#sort(order, low, less, at)
      this.#sort(order, greater, high, at)
      if (pivot < 0) return
      ;[low, high, at] = [less, greater, at + 1]
    }
  }

  /** -1 after the end of the text. */
  #byteAt(number: number, at: number): number {
    const index = this.#starts[number]! + at
    return index < this.#endOf(number) ? this.#bytes[index]! : -1
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
