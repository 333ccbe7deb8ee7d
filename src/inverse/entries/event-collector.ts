/** Collects the events of a batch of names in any order, and packs them into the blocks of one sorted run. */

import { type Block, BlockWriter, MAX_KEY_BYTES } from './block.ts'

const INITIAL_BYTES = 2 ** 16
const INITIAL_EVENTS = 2 ** 11

/**
 * The keys are in one buffer, and the events in one array. What is sorted are their indexes: by three-way radix
 * quicksort (Bentley and Sedgewick 1997), which looks at each byte that tells keys apart about once. That takes a sixth
 * of the time of sorting texts.
 */
export class EventCollector {
  #bytes = Buffer.allocUnsafe(INITIAL_BYTES)
  #end = 0
  /** For each event the place of its key, its length, and the event; 0 in a set of names. */
  #starts = new Uint32Array(INITIAL_EVENTS)
  #lengths = new Uint16Array(INITIAL_EVENTS)
  #events = new Float64Array(INITIAL_EVENTS)
  #count = 0

  /** The number of events. */
  get count(): number {
    return this.#count
  }

  /** Adds an event of the key that consists of `value` and `name`; 0 for none. */
  add(value: string, name: string, event: number): void {
    if (this.#end + MAX_KEY_BYTES > this.#bytes.length) this.#growBytes()
    if (this.#count === this.#starts.length) this.#growEvents()
    const start = this.#end
    this.#append(value)
    this.#append(name)
    this.#starts[this.#count] = start
    this.#lengths[this.#count] = this.#end - start
    this.#events[this.#count++] = event
  }

  /** The blocks of all events, sorted, each event once. */
  pack(): Block[] {
    const order = Uint32Array.from({ length: this.#count }, (_, index) => index)
    this.#sort(order, 0, this.#count, 0)
    const writer = new BlockWriter()
    for (let from = 0; from < order.length; ) {
      let to = from + 1
      while (to < order.length && this.#hasSameKey(order[from]!, order[to]!)) to++
      const events = to - from === 1 ? [this.#events[order[from]!]!] : this.#sortedEvents(order.subarray(from, to))
      const start = this.#starts[order[from]!]!
      const length = this.#lengths[order[from]!]!
      writer.add(this.#bytes.subarray(start, start + length), length, events, events[0] === 0 ? 0 : events.length)
      from = to
    }
    return writer.take(true)
  }

  #append(text: string): void {
    const bytes = this.#bytes
    let end = this.#end
    for (let at = 0; at < text.length; at++) bytes[end++] = text.charCodeAt(at)
    this.#end = end
  }

  #growBytes(): void {
    const larger = Buffer.allocUnsafe(2 * this.#bytes.length)
    larger.set(this.#bytes)
    this.#bytes = larger
  }

  #growEvents(): void {
    const grow = <A extends Uint32Array | Uint16Array | Float64Array>(to: A, from: A): A => {
      to.set(from)
      return to
    }
    this.#starts = grow(new Uint32Array(2 * this.#count), this.#starts)
    this.#lengths = grow(new Uint16Array(2 * this.#count), this.#lengths)
    this.#events = grow(new Float64Array(2 * this.#count), this.#events)
  }

  #sortedEvents(same: Uint32Array): number[] {
    return [...new Set(Array.from(same, (index) => this.#events[index]!))].sort((a, b) => a - b)
  }

  #hasSameKey(a: number, b: number): boolean {
    const length = this.#lengths[a]!
    if (this.#lengths[b] !== length) return false
    const [startA, startB] = [this.#starts[a]!, this.#starts[b]!]
    for (let at = length - 1; at >= 0; at--) if (this.#bytes[startA + at] !== this.#bytes[startB + at]) return false
    return true
  }

  /** Sorts a range of indexes by their keys, which are equal before the byte at `depth`. */
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

  /** -1 after the end of the key. */
  #byteAt(index: number, at: number): number {
    return at < this.#lengths[index]! ? this.#bytes[this.#starts[index]! + at]! : -1
  }
}

function swap(order: Uint32Array, a: number, b: number): void {
  const moved = order[a]!
  order[a] = order[b]!
  order[b] = moved
}
