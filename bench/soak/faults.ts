/** The faults of a soak: what is broken on purpose, for how long, and how it is mended. */

import { setTimeout as sleep } from 'node:timers/promises'
import { chooseByWeight } from './weighted.ts'

/** `break` breaks something and resolves when it is mended. Its text says what was done; null if it was not possible. */
export type Fault = { name: string; weight: number; break(): Promise<string | null> }

/** Seconds after a fault, and after the server is ready again, in which calls may still fail. */
const RECOVERY_SECONDS = 15
/** Seconds between two faults. */
const PAUSE_SECONDS = { min: 10, max: 25 }

export class Faults {
  readonly done: Record<string, number> = {}
  #brokenUntil = 0
  readonly #faults: readonly Fault[]
  readonly #random: () => number

  readonly #waitUntilReady: () => Promise<void>

  constructor(faults: readonly Fault[], waitUntilReady: () => Promise<void>, random: () => number) {
    this.#faults = faults
    this.#waitUntilReady = waitUntilReady
    this.#random = random
  }

  isBroken(): boolean {
    return performance.now() < this.#brokenUntil
  }

  /** Breaks one thing after another until the time (of performance.now()). */
  async run(until: number): Promise<void> {
    for (;;) {
      const pause = PAUSE_SECONDS.min + this.#random() * (PAUSE_SECONDS.max - PAUSE_SECONDS.min)
      await sleep((RECOVERY_SECONDS + pause) * 1_000)
      if (performance.now() > until) return
      this.#brokenUntil = Number.POSITIVE_INFINITY
      const fault = chooseByWeight(this.#faults, this.#random)
      const text = await fault.break()
      await this.#waitUntilReady()
      this.#brokenUntil = performance.now() + RECOVERY_SECONDS * 1_000
      if (text === null) continue
      this.done[fault.name] = (this.done[fault.name] ?? 0) + 1
      console.error(`  ${new Date().toISOString().slice(11, 19)} ${fault.name}: ${text}`)
    }
  }
}
