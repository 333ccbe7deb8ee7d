/** A map of bounded size, which forgets what was used longest ago. */

/** Entries are dropped some at a time: going to the oldest entry of a Map costs as much as there were dropped before it. */
const SHARE_DROPPED = 0.02

export class Recent<Key, Value> {
  readonly #entries = new Map<Key, Value>()
  readonly #most: number
  readonly #onDropped: (key: Key, value: Value) => void

  /** `most` entries are kept. `onDropped` is told of each that is forgotten for want of room. */
  constructor(most: number, onDropped: (key: Key, value: Value) => void = () => {}) {
    this.#most = most
    this.#onDropped = onDropped
  }

  get(key: Key): Value | undefined {
    return this.#entries.get(key)
  }

  /** Sets an entry, as the one used last. */
  use(key: Key, value: Value): void {
    this.#entries.delete(key)
    this.#entries.set(key, value)
    if (this.#entries.size > this.#most) this.#drop(Math.ceil(this.#most * SHARE_DROPPED))
  }

  delete(key: Key): void {
    this.#entries.delete(key)
  }

  #drop(count: number): void {
    let left = count
    for (const [key, value] of this.#entries) {
      if (left-- === 0) return
      this.#entries.delete(key)
      this.#onDropped(key, value)
    }
  }
}
