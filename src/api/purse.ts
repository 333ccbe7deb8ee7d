/** The purse: the units of one account's budget of one day that this process holds, and what became of them. */

import type { Grant, Settlement } from '../store/ledger.ts'
import type { Day } from '../words/time.ts'

/** How a unit was come by: out of a hold of several, or singly, and then the ledger counts it as spent already. */
export type Source = 'held' | 'spent'

/** Units that a process holds idle, at most. */
const MOST_IDLE = 64
/** More are asked for when less than this share of them is left. */
const LOW_SHARE = 1 / 4

export class Purse {
  readonly account: number
  readonly day: Day
  /** That of the plan in force. */
  readonly limit: number
  /** Whether the ledger's last word was a hold, or to wait: one question at a time is enough then. */
  isBulk = true
  /** Held units that came since the last round, and those that came before it and go back with the next. */
  #fresh = 0
  #aging = 0
  /** Idle units at once, at most: fewer where the ledger did not grant as many. */
  #most = MOST_IDLE
  /** Held units of calls in flight. */
  #inFlight = 0
  /** Held units that calls took and the ledger does not know of. */
  #spent = 0
  /** Units that nobody has spent, by the ledger's last word and what was settled since. */
  #left: number

  constructor(account: number, day: Day, limit: number) {
    this.account = account
    this.day = day
    this.limit = limit
    this.#left = limit
  }

  /** Units that no call has, as far as this process knows; what others hold may still be unused. */
  get remaining(): number {
    return Math.max(0, this.#left - this.#spent - this.#inFlight)
  }

  get unsettled(): number {
    return this.#spent
  }

  /** Whether nothing of it is open with the ledger. */
  get isEmpty(): boolean {
    return this.#idle + this.#inFlight + this.#spent === 0
  }

  /** How many units to ask for. */
  get wanted(): number {
    return this.#most - this.#idle
  }

  /** Whether a call that comes soon may find no idle unit, although the ledger gives several at once. */
  get isLow(): boolean {
    return this.isBulk && this.#idle < this.#most * LOW_SHARE
  }

  /** Takes an idle unit for a call, the oldest first; false where there is none. */
  takeIdle(): boolean {
    if (this.#aging > 0) this.#aging--
    else if (this.#fresh > 0) this.#fresh--
    else return false
    this.#inFlight++
    return true
  }

  get #idle(): number {
    return this.#fresh + this.#aging
  }

  /** Takes in what the ledger granted; says how, or null where it granted nothing. */
  learn({ granted, used, wait }: Grant): Source | null {
    this.#left = this.limit - used
    const source = granted === 0 ? null : granted === 1 ? 'spent' : 'held'
    this.isBulk = wait || source === 'held'
    if (source !== 'held') return source
    this.#fresh += granted
    this.#most = Math.min(this.#most, this.#idle)
    return source
  }

  /** The call of a held unit is counted. */
  spend(): void {
    this.#inFlight--
    this.#spent++
  }

  /** The call of a unit is not counted. */
  restore(source: Source): void {
    if (source === 'spent') this.#left++
    else {
      this.#inFlight--
      this.#aging++
    }
  }

  /** Nobody takes from it any more: what is idle goes back with the next round. */
  retire(): void {
    this.#aging += this.#fresh
    this.#fresh = 0
  }

  /** What is to be settled, null where nothing is open; units that stayed idle since the round before last go back. */
  round(holder: string): Settlement | null {
    if (this.isEmpty) return null
    const settlement = { account: this.account, day: this.day, holder, spent: this.#spent, returned: this.#aging }
    this.#left -= this.#spent
    this.#aging = this.#fresh
    this.#fresh = 0
    this.#spent = 0
    return settlement
  }

  /** A settlement did not reach the ledger: it is made again with the next round. */
  undo({ spent, returned }: Settlement): void {
    this.#spent += spent
    this.#aging += returned
    this.#left += spent
  }
}
