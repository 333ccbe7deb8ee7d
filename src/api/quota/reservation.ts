/** A call's unit of the daily budget, from when it is taken until it is known what becomes of it. */

import type { Caller } from '../auth/authenticator.ts'
import type { TokenLease, UnitSource } from './quota-lease.ts'
import type { UsageBuffer } from './usage-buffer.ts'

/** A call's unit, until it is known whether the call counts. Only the first of the two has an effect. */
export type Reservation = {
  /** Units that are left beside it. */
  readonly remaining: number
  /** The call counts: its unit is spent. */
  charge(endpoint: string): void
  /** The call does not count: resolves when any process can have its unit. */
  release(): Promise<void>
}

/** Where it is written down what became of a unit. */
export type ReservationSink = { usage: UsageBuffer; refund: (lease: TokenLease) => Promise<void> }

export class UnitReservation implements Reservation {
  readonly #lease: TokenLease
  readonly #caller: Caller
  readonly #source: UnitSource
  readonly #sink: ReservationSink
  #isOpen = true

  constructor(lease: TokenLease, caller: Caller, source: UnitSource, sink: ReservationSink) {
    this.#lease = lease
    this.#caller = caller
    this.#source = source
    this.#sink = sink
  }

  get remaining(): number {
    return this.#lease.remaining
  }

  charge(endpoint: string): void {
    if (!this.#isOpen) return
    this.#isOpen = false
    if (this.#source === 'leased') this.#lease.spendUnit()
    this.#sink.usage.add(this.#caller, endpoint)
  }

  async release(): Promise<void> {
    if (!this.#isOpen) return
    this.#isOpen = false
    if (this.#source === 'charged') await this.#sink.refund(this.#lease)
    else this.#lease.releaseUnit('leased')
  }
}

/** A call that takes no unit, because its account has no limit, and that is noted if it counts. */
export class UnlimitedReservation implements Reservation {
  readonly remaining = Number.POSITIVE_INFINITY
  readonly #caller: Caller
  readonly #usage: UsageBuffer
  #isOpen = true

  constructor(caller: Caller, usage: UsageBuffer) {
    this.#caller = caller
    this.#usage = usage
  }

  charge(endpoint: string): void {
    if (this.#isOpen) this.#usage.add(this.#caller, endpoint)
    this.#isOpen = false
  }

  async release(): Promise<void> {
    this.#isOpen = false
  }
}
