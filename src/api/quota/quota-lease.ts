/** A token lease: units of the daily budget of an account that this process may spend without asking the ledger. */

import type { QuotaGrant } from '../../accounts/budget-arithmetic.ts'
import { MAX_LEASE_UNITS } from '../../accounts/quota-lease-rules.ts'
import type { Settlement } from '../../store/port/ledger.ts'
import type { Day } from '../../values/time.ts'

/** The source of a unit: a lease of several units, or a single unit, which the ledger already counts as spent. */
export type UnitSource = 'leased' | 'charged'

/** The number of idle units for single calls, and the least for batches. */
const UNITS_FOR_SINGLE_CALLS = 64
/** If less than this share of the idle units that are wanted is there, the limiter requests more. */
const RENEW_BELOW_SHARE = 1 / 4

export class TokenLease {
  readonly account: number
  readonly day: Day
  /** The daily limit of the plan in force. */
  readonly limit: number
  /** Whether the last answer of the ledger was several units, or to retry. Then one open request is enough. */
  grantsSeveral = true
  /** Idle units granted since the last settlement. */
  #recent = 0
  /** Older idle units, which the next settlement returns. */
  #expiring = 0
  /** The maximum number of idle units. It decreases if the ledger grants fewer than requested. */
  #maxIdle = MAX_LEASE_UNITS
  /** Calls that batches have announced, and whose answers are not known yet. */
  #expected = 0
  /** Leased units of calls in flight. */
  #inFlight = 0
  /** Leased units that are spent, but not settled with the ledger. */
  #spent = 0
  /** Units of the account that are not spent, by the last answer of the ledger and the settlements since. */
  #unspent: number

  constructor(account: number, day: Day, limit: number) {
    this.account = account
    this.day = day
    this.limit = limit
    this.#unspent = limit
  }

  /** The units that are not spent and not in flight, as far as this process knows. */
  get remaining(): number {
    return Math.max(0, this.#unspent - this.#spent - this.#inFlight)
  }

  get unsettled(): number {
    return this.#spent
  }

  /** Whether no unit is left to settle. */
  get isEmpty(): boolean {
    return this.#idle + this.#inFlight + this.#spent === 0
  }

  /** Whether a batch has announced calls. */
  get isExpectingCalls(): boolean {
    return this.#expected > 0
  }

  /** Announces calls. A negative number takes calls back whose answers are known, or that will not be made. */
  expectCalls(count: number): void {
    this.#expected = Math.max(0, this.#expected + count)
  }

  /** The number of units to request. */
  get unitsToRequest(): number {
    return Math.max(1, this.#wantedIdle - this.#idle)
  }

  /** Whether few units are idle although the ledger grants several at once. */
  get isLow(): boolean {
    return this.grantsSeveral && this.#idle < this.#wantedIdle * RENEW_BELOW_SHARE
  }

  get #wantedIdle(): number {
    return Math.min(this.#maxIdle, Math.max(UNITS_FOR_SINGLE_CALLS, this.#expected))
  }

  /** Takes an idle unit for a call, the oldest first. Returns false if there is none. */
  takeIdleUnit(): boolean {
    if (this.#expiring > 0) this.#expiring--
    else if (this.#recent > 0) this.#recent--
    else return false
    this.#inFlight++
    return true
  }

  get #idle(): number {
    return this.#recent + this.#expiring
  }

  /** Adds the granted ones of the `requested` units. Returns their source, or null if the ledger granted none. */
  applyGrant({ granted, used, retryLater }: QuotaGrant, requested: number): UnitSource | null {
    this.#unspent = this.limit - used
    const source = granted === 0 ? null : granted === 1 ? 'charged' : 'leased'
    this.grantsSeveral = retryLater || source === 'leased'
    if (source !== 'leased') return source
    this.#recent += granted
    if (granted < requested) this.#maxIdle = Math.min(this.#maxIdle, this.#idle)
    return source
  }

  /** Spends the leased unit of a call. */
  spendUnit(): void {
    this.#inFlight--
    this.#spent++
  }

  /** Releases the unit of a call that is not charged. */
  releaseUnit(source: UnitSource): void {
    if (source === 'charged') this.#unspent++
    else {
      this.#inFlight--
      this.#expiring++
    }
  }

  /** Ends the lease: the next settlement returns the idle units. */
  retire(): void {
    this.#expiring += this.#recent
    this.#recent = 0
  }

  /** The next settlement; null if nothing is open. It returns the units that were idle since the settlement before. */
  nextSettlement(holder: string): Settlement | null {
    if (this.isEmpty) return null
    const settlement = { account: this.account, day: this.day, holder, spent: this.#spent, returned: this.#expiring }
    this.#unspent -= this.#spent
    this.#expiring = this.#recent
    this.#recent = 0
    this.#spent = 0
    return settlement
  }

  /** Reverts a settlement that did not reach the ledger, so that the next one includes it. */
  revertSettlement({ spent, returned }: Settlement): void {
    this.#spent += spent
    this.#expiring += returned
    this.#unspent += spent
  }
}
