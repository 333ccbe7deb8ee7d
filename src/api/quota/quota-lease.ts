/** The purse: the units of one account's budget of one day that this process holds, and what became of them. */

import type { QuotaGrant, Settlement } from '../../store/port/ledger.ts'
import type { Day } from '../../values/time.ts'

/** How a unit was come by: out of a hold of several, or singly, and then the ledger counts it as spent already. */
export type UnitSource = 'leased' | 'charged'

/** Units that a process holds idle, at most. */
const MAX_IDLE_UNITS = 64
/** More are asked for when less than this share of them is left. */
const RENEW_BELOW_SHARE = 1 / 4

export class TokenLease {
  readonly account: number
  readonly day: Day
  /** That of the plan in force. */
  readonly limit: number
  /** Whether the ledger's last word was a hold, or to wait: one question at a time is enough then. */
  grantsSeveral = true
  /** Held units that came since the last round, and those that came before it and go back with the next. */
  #recent = 0
  #expiring = 0
  /** Idle units at once, at most: fewer where the ledger did not grant as many. */
  #maxIdle = MAX_IDLE_UNITS
  /** Held units of calls in flight. */
  #inFlight = 0
  /** Held units that calls took and the ledger does not know of. */
  #spent = 0
  /** Units that nobody has spent, by the ledger's last word and what was settled since. */
  #unspent: number

  constructor(account: number, day: Day, limit: number) {
    this.account = account
    this.day = day
    this.limit = limit
    this.#unspent = limit
  }

  /** Units that no call has, as far as this process knows; what others hold may still be unused. */
  get remaining(): number {
    return Math.max(0, this.#unspent - this.#spent - this.#inFlight)
  }

  get unsettled(): number {
    return this.#spent
  }

  /** Whether nothing of it is open with the ledger. */
  get isEmpty(): boolean {
    return this.#idle + this.#inFlight + this.#spent === 0
  }

  /** How many units to ask for. */
  get unitsToRequest(): number {
    return this.#maxIdle - this.#idle
  }

  /** Whether a call that comes soon may find no idle unit, although the ledger gives several at once. */
  get isLow(): boolean {
    return this.grantsSeveral && this.#idle < this.#maxIdle * RENEW_BELOW_SHARE
  }

  /** Takes an idle unit for a call, the oldest first; false where there is none. */
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

  /** Takes in what the ledger granted; says how, or null where it granted nothing. */
  applyGrant({ granted, used, retryLater: wait }: QuotaGrant): UnitSource | null {
    this.#unspent = this.limit - used
    const source = granted === 0 ? null : granted === 1 ? 'charged' : 'leased'
    this.grantsSeveral = wait || source === 'leased'
    if (source !== 'leased') return source
    this.#recent += granted
    this.#maxIdle = Math.min(this.#maxIdle, this.#idle)
    return source
  }

  /** The call of a held unit is counted. */
  spendUnit(): void {
    this.#inFlight--
    this.#spent++
  }

  /** The call of a unit is not counted. */
  releaseUnit(source: UnitSource): void {
    if (source === 'charged') this.#unspent++
    else {
      this.#inFlight--
      this.#expiring++
    }
  }

  /** Nobody takes from it any more: what is idle goes back with the next round. */
  retire(): void {
    this.#expiring += this.#recent
    this.#recent = 0
  }

  /** What is to be settled, null where nothing is open; units that stayed idle since the round before last go back. */
  nextSettlement(holder: string): Settlement | null {
    if (this.isEmpty) return null
    const settlement = { account: this.account, day: this.day, holder, spent: this.#spent, returned: this.#expiring }
    this.#unspent -= this.#spent
    this.#expiring = this.#recent
    this.#recent = 0
    this.#spent = 0
    return settlement
  }

  /** A settlement did not reach the ledger: it is made again with the next round. */
  revertSettlement({ spent, returned }: Settlement): void {
    this.#spent += spent
    this.#expiring += returned
    this.#unspent += spent
  }
}
