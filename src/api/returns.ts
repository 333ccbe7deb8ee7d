/** Units that go back to the ledger although it counts them as spent: where it does not take one, it is tried again later. */

import { DoubtFault } from '../store/fault.ts'
import type { Ledger } from '../store/ledger.ts'
import type { Purse } from './purse.ts'

type Owed = Pick<Purse, 'account' | 'day'>
type Options = { ledger: Pick<Ledger, 'giveBack'>; onFault: (fault: unknown) => void }

export class Returns {
  readonly #options: Options
  #owed: Owed[] = []

  constructor(options: Options) {
    this.#options = options
  }

  /** Resolves when the ledger has the unit, or did not take it; one that it may have taken is never given back twice. */
  async giveBack(owed: Owed): Promise<void> {
    try {
      await this.#options.ledger.giveBack(owed.account, owed.day)
    } catch (fault) {
      if (!(fault instanceof DoubtFault)) this.#owed.push(owed)
      this.#options.onFault(fault)
    }
  }

  /** Gives back what the ledger did not take so far. */
  async retry(): Promise<void> {
    const owed = this.#owed
    this.#owed = []
    await Promise.all(owed.map((each) => this.giveBack(each)))
  }
}
