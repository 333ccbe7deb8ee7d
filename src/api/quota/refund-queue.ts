/** Units that go back to the ledger although it counts them as spent: where it does not take one, it is tried again later. */

import { UncertainWriteFault } from '../../store/port/fault.ts'
import type { Ledger } from '../../store/port/ledger.ts'
import type { TokenLease } from './quota-lease.ts'

type PendingRefund = Pick<TokenLease, 'account' | 'day'>
type RefundQueueOptions = { ledger: Pick<Ledger, 'refundUnit'>; onFault: (fault: unknown) => void }

export class RefundQueue {
  readonly #options: RefundQueueOptions
  #pending: PendingRefund[] = []

  constructor(options: RefundQueueOptions) {
    this.#options = options
  }

  /** Resolves when the ledger has the unit, or did not take it; one that it may have taken is never given back twice. */
  async refund(owed: PendingRefund): Promise<void> {
    try {
      await this.#options.ledger.refundUnit(owed.account, owed.day)
    } catch (fault) {
      if (!(fault instanceof UncertainWriteFault)) this.#pending.push(owed)
      this.#options.onFault(fault)
    }
  }

  /** Gives back what the ledger did not take so far. */
  async retry(): Promise<void> {
    const owed = this.#pending
    this.#pending = []
    await Promise.all(owed.map((each) => this.refund(each)))
  }
}
