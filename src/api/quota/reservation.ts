/**
 * Reservations: units of the daily budget that are held for calls whose outcome is not known yet, and the buffer of the
 * calls that were charged.
 */

import type { UsageNote } from '../../store/port/ledger.ts'
import type { Caller } from '../auth/authenticator.ts'
import type { TokenLease, UnitSource } from './quota-lease.ts'

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

/** Buffers the usage records of charged calls until the ledger stores them. */
export class UsageBuffer {
  #records: UsageNote[] = []
  /**
   * The last record of each token, and under the negative ID of each account that of its sessions, whose token is 0. Most
   * calls only increment it.
   */
  readonly #lastByToken = new Map<number, UsageNote>()

  add({ account, token, today, now }: Caller, endpoint: string): void {
    const key = token === 0 ? -account.id : token
    const last = this.#lastByToken.get(key)
    if (last !== undefined && last.endpoint === endpoint && last.day === today) {
      last.calls++
      last.lastCall = now
      return
    }
    const record = { account: account.id, token, endpoint, day: today, calls: 1, lastCall: now }
    this.#lastByToken.set(key, record)
    this.#records.push(record)
  }

  /** Returns all records and empties the buffer. */
  drain(): UsageNote[] {
    const records = this.#records
    this.#records = []
    this.#lastByToken.clear()
    return records
  }

  /** Adds records that could not be stored. */
  putBack(records: readonly UsageNote[]): void {
    this.#records.push(...records)
  }
}
