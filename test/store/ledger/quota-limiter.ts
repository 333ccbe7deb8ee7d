/** A process that answers calls from a ledger's budget, implemented as simply as the port allows. */

import type { QuotaGrant } from '../../../src/accounts/budget-arithmetic.ts'
import type { Ledger, Settlement } from '../../../src/store/port/ledger.ts'
import type { Day } from '../../../src/values/time.ts'

export type Budget = { account: number; limit: number }

/** The units that a process holds of one day. */
type HeldUnits = { idle: number; spent: number }

export class CallingProcess {
  readonly holder: string
  readonly #ledger: Ledger
  readonly #budget: Budget
  readonly #held = new Map<Day, HeldUnits>()

  constructor(ledger: Ledger, budget: Budget, holder: string) {
    this.#ledger = ledger
    this.#budget = budget
    this.holder = holder
  }

  /** The idle units of a day, which are lost if the process dies. */
  idle(day: Day): number {
    return this.#held.get(day)?.idle ?? 0
  }

  /**
   * Tries to answer one call. If `costs` is false, the call turns out to cost nothing. The grant says why it was
   * rejected.
   */
  async call(day: Day, costs = true): Promise<'answered' | QuotaGrant> {
    const held = this.#heldOf(day)
    if (held.idle === 0) {
      const grant = await this.#ledger.takeQuota({ ...this.#budget, day, requested: 64, holder: this.holder })
      if (grant.granted === 0) return grant
      if (grant.granted === 1) {
        if (!costs) await this.#ledger.refundUnit(this.#budget.account, day)
        return 'answered'
      }
      held.idle += grant.granted
    }
    if (costs) {
      held.idle--
      held.spent++
    }
    return 'answered'
  }

  /** Reports spent units and returns idle ones, of every day. */
  async settle(): Promise<void> {
    const { account } = this.#budget
    const settlements = [...this.#held].map(([day, { idle, spent }]): Settlement => {
      return { account, day, spent, returned: idle, holder: this.holder }
    })
    this.#held.clear()
    await this.#ledger.settleQuota(settlements)
  }

  #heldOf(day: Day): HeldUnits {
    const held = this.#held.get(day) ?? { idle: 0, spent: 0 }
    this.#held.set(day, held)
    return held
  }
}
