/** A simulated process that can be killed: afterwards none of its calls runs, and no result reaches it. */

export class SimulatedProcess {
  readonly #killAtPoint: number
  isKilled = false
  /** Points at which it could have been killed: one before and one after every awaited call. */
  killPoints = 0

  /** The process dies at this kill point, or when `kill` is called. */
  constructor(killAtPoint = Number.POSITIVE_INFINITY) {
    this.#killAtPoint = killAtPoint
  }

  kill(): void {
    this.isKilled = true
  }

  /** Runs a call of the process. Never resolves if the process is dead before or after it. */
  async run<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#passKillPoint()) return new Promise(() => {})
    const result = await work()
    return this.#passKillPoint() ? new Promise(() => {}) : result
  }

  /** Returns a proxy for `target` that runs every method, also those of nested objects, as a call of this process. */
  wrap<Thing extends object>(target: Thing): Thing {
    return new Proxy(target, {
      get: (target, key) => {
        const value = Reflect.get(target, key)
        if (typeof value === 'function') return (...args: unknown[]) => this.run(() => value.apply(target, args))
        return typeof value === 'object' && value !== null ? this.wrap(value) : value
      },
    })
  }

  #passKillPoint(): boolean {
    if (!this.isKilled && ++this.killPoints >= this.#killAtPoint) this.isKilled = true
    return this.isKilled
  }
}
