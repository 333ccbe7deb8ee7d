/** The books: some budgets and the holds on them while they are locked, and what calls make of them. */

import { leaseSize } from '../../../accounts/quota-lease-rules.ts'
import type { Day } from '../../../values/time.ts'
import type { FilePayment, FilePurchase, QuotaGrant, QuotaRequest, Settlement } from '../../port/ledger.ts'

/** Whose budget, of which day. */
export type BudgetKey = { account: number; day: Day }

export type Budget = BudgetKey & { used: number }
export type LeaseRow = BudgetKey & { holder: string; units: number }

/** A file that is paid for. */
export type PaidFile = BudgetKey & { file: string }

/** An open budget: `held` is the sum of its holds. */
type OpenBudget = Budget & { leased: number; leases: Map<string, number>; isChanged: boolean }

export class BudgetSet {
  readonly #budgets: Map<string, OpenBudget>
  readonly #changedLeases = new Map<string, LeaseRow>()
  readonly #paid: Set<string>
  readonly #newlyPaid: PaidFile[] = []

  constructor(budgets: readonly Budget[], holds: readonly LeaseRow[], paid: readonly PaidFile[]) {
    this.#paid = new Set(paid.map(paidFileName))
    this.#budgets = new Map(
      budgets.map((budget) => [budgetName(budget), { ...budget, leased: 0, leases: new Map(), isChanged: false }]),
    )
    for (const { units, holder, ...key } of holds) {
      const page = this.#budgetOf(key)
      page.leases.set(holder, units)
      page.leased += units
    }
  }

  /** `live`: how many processes may want some, the asking one included. */
  grant(request: QuotaRequest, live: number): QuotaGrant {
    const page = this.#budgetOf(request)
    const { used, leased: held } = page
    const free = request.limit - used - held
    if (free <= 0) return { granted: 0, used, leased: held, retryLater: held > 0 }
    const granted = leaseSize(free, request.requested, live)
    if (granted === 1) this.#addUsed(page, 1)
    else this.#setLease(page, request.holder, (page.leases.get(request.holder) ?? 0) + granted)
    return { granted, used: page.used, leased: page.leased, retryLater: false }
  }

  pay({ file, ...ask }: FilePurchase): FilePayment {
    const download = { account: ask.account, day: ask.day, file }
    const mark = paidFileName(download)
    if (this.#paid.has(mark)) return { outcome: 'already_paid', used: this.#budgetOf(ask).used }
    const { granted, used, retryLater } = this.grant({ ...ask, requested: 1 }, 1)
    if (granted === 0) return { outcome: retryLater ? 'retry_later' : 'limit_reached', used }
    this.#paid.add(mark)
    this.#newlyPaid.push(download)
    return { outcome: 'charged', used }
  }

  /** A holder that was silent too long has no hold any more: settling it changes nothing. */
  settle(settlement: Settlement): void {
    const { holder, spent, returned } = settlement
    const page = this.#budgetOf(settlement)
    const units = page.leases.get(holder)
    if (units === undefined) return
    const settled = Math.min(spent + returned, units)
    this.#setLease(page, holder, units - settled)
    if (spent > 0) this.#addUsed(page, Math.min(spent, settled))
  }

  refund(key: BudgetKey): void {
    const page = this.#budgetOf(key)
    if (page.used > 0) this.#addUsed(page, -1)
  }

  /** What is to be written: a hold of no units is to be removed. */
  changes(): { budgets: Budget[]; holds: LeaseRow[]; bought: PaidFile[] } {
    return {
      budgets: [...this.#budgets.values()].filter(({ isChanged }) => isChanged),
      holds: [...this.#changedLeases.values()],
      bought: this.#newlyPaid,
    }
  }

  #budgetOf(key: BudgetKey): OpenBudget {
    return this.#budgets.get(budgetName(key))!
  }

  #addUsed(page: OpenBudget, units: number): void {
    page.used += units
    page.isChanged = true
  }

  #setLease(page: OpenBudget, holder: string, units: number): void {
    const { account, day } = page
    page.leased += units - (page.leases.get(holder) ?? 0)
    if (units > 0) page.leases.set(holder, units)
    else page.leases.delete(holder)
    this.#changedLeases.set(`${budgetName(page)} ${holder}`, { account, day, holder, units })
  }
}

/** Tells budgets apart. */
export function budgetName({ account, day }: BudgetKey): string {
  return `${account} ${day}`
}

function paidFileName({ file, ...key }: PaidFile): string {
  return `${budgetName(key)} ${file}`
}
