/** A map of bounded size that evicts the least recently used entries. */

/**
 * Evicts several entries at once. Iterating to the oldest entry of a Map takes time in proportion to the deleted ones
 * before it.
 */
const EVICTED_SHARE = 0.02

export class LruMap<Key, Value> {
  readonly #entries = new Map<Key, Value>()
  readonly #maxEntries: number
  readonly #onEvicted: (key: Key, value: Value) => void

  /** Keeps at most `maxEntries` entries. `onEvicted` receives each evicted entry. */
  constructor(maxEntries: number, onEvicted: (key: Key, value: Value) => void = () => {}) {
    this.#maxEntries = maxEntries
    this.#onEvicted = onEvicted
  }

  get(key: Key): Value | undefined {
    return this.#entries.get(key)
  }

  /** Sets an entry as the most recently used. */
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
