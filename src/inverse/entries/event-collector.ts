/** Collects the events of a batch of names in any order, and packs them into the blocks of one sorted run. */

import { type Block, BlockWriter, MAX_KEY_BYTES } from './block.ts'

const INITIAL_BYTES = 2 ** 18
const INITIAL_EVENTS = 2 ** 14
/** The number of the name of a set's key, which is empty. */
const NO_NAME = 0

/** Numbers of texts in the order in which they came. */
class Numbering {
  readonly texts: string[] = []
  readonly #numbers = new Map<string, number>()

  /** The number of a text that comes once. */
  add(text: string): number {
    return this.texts.push(text) - 1
  }

  numberOf(text: string): number {
    const known = this.#numbers.get(text)
    if (known !== undefined) return known
    this.#numbers.set(text, this.texts.length)
    return this.add(text)
  }
}

/**
 * Most events have a value or a name in common, so that values and names are sorted once each, and the events by their
 * numbers. That takes a tenth of the time of sorting a text for each event.
 */
export class EventCollector {
  readonly #values = new Numbering()
  readonly #names = new Numbering()
  #name = ''
  #nameNumber = this.#names.add('')
  /** For each event the numbers of its value and its name, and the event; 0 in a set of names. */
  #valueOf = new Uint32Array(INITIAL_EVENTS)
  #nameOf = new Uint32Array(INITIAL_EVENTS)
  #events = new Float64Array(INITIAL_EVENTS)
  #count = 0

  /** The number of events. */
  get count(): number {
    return this.#count
  }

  /** Adds an event of the key that consists of `value` and `name`. */
  add(value: string, name: string, event: number): void {
    if (name !== this.#name) {
      this.#name = name
      this.#nameNumber = this.#names.numberOf(name)
    }
    this.#push(this.#values.numberOf(value), this.#nameNumber, event)
  }

  /** Adds the key of a set of names. It must be added once. */
  addToSet(key: string): void {
    this.#push(this.#values.add(key), NO_NAME, 0)
  }

  /** The blocks of all events, sorted, each event once. */
  pack(): Block[] {
    const [values, names] = [this.#values.texts, this.#names.texts]
    const byName = sortedBy(numbersTo(this.#count), this.#nameOf, ranksOf(names))
    const order = sortedBy(byName, this.#valueOf, ranksOf(values))
    const writer = new BlockWriter()
    const key = new Uint8Array(MAX_KEY_BYTES)
    let value = -1
    let valueEnd = 0
    for (let from = 0; from < order.length; ) {
      const first = order[from]!
      const shared = this.#valueOf[first] === value ? valueEnd : 0
      if (shared === 0) {
        value = this.#valueOf[first]!
        valueEnd = writeText(key, 0, values[value]!)
      }
      const name = this.#nameOf[first]!
      let to = from + 1
      while (to < order.length && this.#valueOf[order[to]!] === value && this.#nameOf[order[to]!] === name) to++
      const events = to - from === 1 ? [this.#events[first]!] : this.#sortedEvents(order.subarray(from, to))
      const length = writeText(key, valueEnd, names[name]!)
      writer.add(key, length, events, events[0] === 0 ? 0 : events.length, shared)
      from = to
    }
    return writer.take(true)
  }

  #push(value: number, name: number, event: number): void {
    if (this.#count === this.#events.length) this.#grow()
    this.#valueOf[this.#count] = value
    this.#nameOf[this.#count] = name
    this.#events[this.#count++] = event
  }

  #grow(): void {
    const [values, names, events] = [this.#valueOf, this.#nameOf, this.#events]
    this.#valueOf = new Uint32Array(2 * this.#count)
    this.#nameOf = new Uint32Array(2 * this.#count)
    this.#events = new Float64Array(2 * this.#count)
    this.#valueOf.set(values)
    this.#nameOf.set(names)
    this.#events.set(events)
  }

  #sortedEvents(same: Uint32Array): number[] {
    return [...new Set(Array.from(same, (index) => this.#events[index]!))].sort((a, b) => a - b)
  }
}

function numbersTo(count: number): Uint32Array {
  const numbers = new Uint32Array(count)
  for (let number = 0; number < count; number++) numbers[number] = number
  return numbers
}

/** A stable counting sort of indexes by the rank of their number. */
function sortedBy(indexes: Uint32Array, numberOf: Uint32Array, ranks: Uint32Array): Uint32Array {
  const ends = new Uint32Array(ranks.length + 1)
  for (const index of indexes) ends[ranks[numberOf[index]!]! + 1]!++
  for (let rank = 0; rank < ranks.length; rank++) ends[rank + 1]! += ends[rank]!
  const sorted = new Uint32Array(indexes.length)
  for (const index of indexes) sorted[ends[ranks[numberOf[index]!]!]!++] = index
  return sorted
}

/** For each of several texts, which differ, its place in their order. */
function ranksOf(texts: readonly string[]): Uint32Array {
  const order = new TextOrder(texts).sorted()
  const ranks = new Uint32Array(texts.length)
  for (let rank = 0; rank < order.length; rank++) ranks[order[rank]!] = rank
  return ranks
}

/**
 * Sorts texts of one byte per character by three-way radix quicksort (Bentley and Sedgewick 1997), which looks at each
 * byte that tells them apart about once.
 */
class TextOrder {
  #bytes = new Uint8Array(INITIAL_BYTES)
  readonly #starts: Uint32Array
  readonly #order: Uint32Array

  constructor(texts: readonly string[]) {
    this.#order = numbersTo(texts.length)
    this.#starts = new Uint32Array(texts.length + 1)
    let end = 0
    for (const [number, text] of texts.entries()) {
      while (end + text.length > this.#bytes.length) this.#grow()
      end = writeText(this.#bytes, end, text)
      this.#starts[number + 1] = end
    }
  }

  /** The numbers of the texts in their order. */
  sorted(): Uint32Array {
    this.#sort(0, this.#order.length, 0)
    return this.#order
  }

  #grow(): void {
    const larger = new Uint8Array(2 * this.#bytes.length)
    larger.set(this.#bytes)
    this.#bytes = larger
  }

  /** Sorts a range of texts, which are equal before the byte at `depth`. */
  #sort(from: number, to: number, depth: number): void {
    const order = this.#order
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
      this.#sort(low, less, at)
      this.#sort(greater, high, at)
      if (pivot < 0) return
      ;[low, high, at] = [less, greater, at + 1]
    }
  }

  /** -1 after the end of the text. */
  #byteAt(number: number, at: number): number {
    const index = this.#starts[number]! + at
    return index < this.#starts[number + 1]! ? this.#bytes[index]! : -1
  }
}

/** Writes a text of one byte per character and returns where it ends. */
function writeText(bytes: Uint8Array, start: number, text: string): number {
  for (let at = 0; at < text.length; at++) bytes[start + at] = text.charCodeAt(at)
  return start + text.length
}

function swap(order: Uint32Array, a: number, b: number): void {
  const moved = order[a]!
  order[a] = order[b]!
  order[b] = moved
}
