/** A process that answers calls from a ledger's budget, implemented as simply as the port allows. */

import type { QuotaGrant } from '../../../src/accounts/budget-arithmetic.ts'
import type { Ledger } from '../../../src/store/port/ledger.ts'
import { TODAY } from './engine.ts'

export type Budget = { account: number; limit: number }

export class CallingProcess {
  readonly holder: string
  readonly #ledger: Ledger
  readonly #budget: Budget
  #idle = 0
  #spent = 0

  constructor(ledger: Ledger, budget: Budget, holder: string) {
    this.#ledger = ledger
    this.#budget = budget
    this.holder = holder
  }

  /**
   * Tries to answer one call. If `costs` is false, the call turns out to cost nothing. The grant says why it was
   * rejected.
   */
  async call(costs = true): Promise<'answered' | QuotaGrant> {
    if (this.#idle === 0) {
      const grant = await this.#ledger.takeQuota({ ...this.#budget, day: TODAY, requested: 64, holder: this.holder })
      if (grant.granted === 0) return grant
      if (grant.granted === 1) {
        if (!costs) await this.#ledger.refundUnit(this.#budget.account, TODAY)
        return 'answered'
      }
      this.#idle += grant.granted
    }
    if (costs) {
      this.#idle--
      this.#spent++
    }
    return 'answered'
  }

  /** Reports spent units and returns idle ones. */
  async settle(): Promise<void> {
    const settlement = { account: this.#budget.account, day: TODAY, spent: this.#spent, returned: this.#idle }
    this.#spent = 0
    this.#idle = 0
    await this.#ledger.settleQuota([{ ...settlement, holder: this.holder }])
  }
}
