/** A map of bounded size, which forgets what was used longest ago. */

/** Entries are dropped some at a time: going to the oldest entry of a Map costs as much as there were dropped before it. */
const EVICTED_SHARE = 0.02

export class LruMap<Key, Value> {
  readonly #entries = new Map<Key, Value>()
  readonly #maxEntries: number
  readonly #onEvicted: (key: Key, value: Value) => void

  /** `most` entries are kept. `onDropped` is told of each that is forgotten for want of room. */
  constructor(maxEntries: number, onEvicted: (key: Key, value: Value) => void = () => {}) {
    this.#maxEntries = maxEntries
    this.#onEvicted = onEvicted
  }

  get(key: Key): Value | undefined {
    return this.#entries.get(key)
  }

  /** Sets an entry, as the one used last. */
  set(key: Key, value: Value): void {
    this.#entries.delete(key)
    this.#entries.set(key, value)
    if (this.#entries.size > this.#maxEntries) this.#evict(Math.ceil(this.#maxEntries * EVICTED_SHARE))
  }

  delete(key: Key): void {
    this.#entries.delete(key)
  }

  #evict(count: number): void {
    let left = count
    for (const [key, value] of this.#entries) {
      if (left-- === 0) return
      this.#entries.delete(key)
      this.#onEvicted(key, value)
    }
  }
}
