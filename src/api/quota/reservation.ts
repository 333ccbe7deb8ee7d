/** Reservations: units of the daily budget that are held for calls whose outcome is not known yet. */

import type { Caller } from '../auth/authenticator.ts'
import type { TokenLease, UnitSource } from './quota-lease.ts'
import type { UsageBuffer } from './usage-buffer.ts'

/** The unit of a call. Only the first call of `charge` or `release` has an effect. */
export type Reservation = {
  /** The units that remain, without this one. */
  readonly remaining: number
  /** Spends the unit and records the call. */
  charge(endpoint: string): void
  /** Releases the unit. If the ledger counts it as spent, this resolves after its refund. */
  release(): Promise<void>
}

/** Receives the outcome of a reservation. */
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

/** The reservation of an account without a limit. It takes no unit, but records the call if it is charged. */
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
