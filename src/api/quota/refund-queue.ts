/** Refunds units that the ledger counts as spent, and retries refunds that failed. */

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

  /**
   * Resolves when the refund succeeded or failed. After an uncertain write there is no retry, to avoid a double refund.
   */
  async refund(unit: PendingRefund): Promise<void> {
    try {
      await this.#options.ledger.refundUnit(unit.account, unit.day)
    } catch (fault) {
      if (!(fault instanceof UncertainWriteFault)) this.#pending.push(unit)
      this.#options.onFault(fault)
    }
  }

  /** Retries the refunds that failed. */
  async retry(): Promise<void> {
    const pending = this.#pending
    this.#pending = []
    await Promise.all(pending.map((each) => this.refund(each)))
  }
}
