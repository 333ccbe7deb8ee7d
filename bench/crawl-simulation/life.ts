/**
 * The life of a process that may be killed: from that moment on nothing that it asks for is done, or comes back to it.
 */

export class Life {
  readonly #endsAt: number
  isOver = false
  /** Moments at which it might have been killed: before and after everything that it waits for. */
  moments = 0

  /** It ends at the moment of this number, or when it is killed. */
  constructor(endsAt = Number.POSITIVE_INFINITY) {
    this.#endsAt = endsAt
  }

  kill(): void {
    this.isOver = true
  }

  /** Does what it waits for, as far as it lives. */
  async live<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#isKilled()) return new Promise(() => {})
    const result = await work()
    return this.#isKilled() ? new Promise(() => {}) : result
  }

  /** An object whose methods, and those of the objects in it, are what it waits for. */
  of<Thing extends object>(thing: Thing): Thing {
    return new Proxy(thing, {
      get: (target, key) => {
        const value = Reflect.get(target, key)
        if (typeof value === 'function') return (...given: unknown[]) => this.live(() => value.apply(target, given))
        return typeof value === 'object' && value !== null ? this.of(value) : value
      },
    })
  }

  #isKilled(): boolean {
    if (!this.isOver && ++this.moments >= this.#endsAt) this.isOver = true
    return this.isOver
  }
}
