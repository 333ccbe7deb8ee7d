/** A set of locked budgets with their token leases: applies quota calls in memory, and returns what to write. */

import { leaseSize } from '../../../accounts/quota-lease-rules.ts'
import type { Day } from '../../../values/time.ts'
import type { FilePayment, FilePurchase, QuotaGrant, QuotaRequest, Settlement } from '../../port/ledger.ts'

/** Whose budget, of which day. */
export type BudgetKey = { account: number; day: Day }

export type Budget = BudgetKey & { used: number }
export type LeaseRow = BudgetKey & { holder: string; units: number }

/** A file that is paid for. */
export type PaidFile = BudgetKey & { file: string }

/** An open budget: `leased` is the sum of its leases. */
type OpenBudget = Budget & { leased: number; leases: Map<string, number>; isChanged: boolean }

export class BudgetSet {
  readonly #budgets: Map<string, OpenBudget>
  readonly #changedLeases = new Map<string, LeaseRow>()
  readonly #paid: Set<string>
  readonly #newlyPaid: PaidFile[] = []

  constructor(budgets: readonly Budget[], leases: readonly LeaseRow[], paid: readonly PaidFile[]) {
    this.#paid = new Set(paid.map(paidFileName))
    this.#budgets = new Map(
      budgets.map((budget) => [budgetName(budget), { ...budget, leased: 0, leases: new Map(), isChanged: false }]),
    )
    for (const { units, holder, ...key } of leases) {
      const budget = this.#budgetOf(key)
      budget.leases.set(holder, units)
      budget.leased += units
    }
  }

  /** `live`: how many processes may want some, the asking one included. */
  grant(request: QuotaRequest, live: number): QuotaGrant {
    const budget = this.#budgetOf(request)
    const { used, leased } = budget
    const free = request.limit - used - leased
    if (free <= 0) return { granted: 0, used, leased, retryLater: leased > 0 }
    const granted = leaseSize(free, request.requested, live)
    if (granted === 1) this.#addUsed(budget, 1)
    else this.#setLease(budget, request.holder, (budget.leases.get(request.holder) ?? 0) + granted)
    return { granted, used: budget.used, leased: budget.leased, retryLater: false }
  }

  pay({ file, ...ask }: FilePurchase): FilePayment {
    const paid = { account: ask.account, day: ask.day, file }
    const key = paidFileName(paid)
    if (this.#paid.has(key)) return { outcome: 'already_paid', used: this.#budgetOf(ask).used }
    const { granted, used, retryLater } = this.grant({ ...ask, requested: 1 }, 1)
    if (granted === 0) return { outcome: retryLater ? 'retry_later' : 'limit_reached', used }
    this.#paid.add(key)
    this.#newlyPaid.push(paid)
    return { outcome: 'charged', used }
  }

  /** A holder without a recent heartbeat has no lease any more: settling it changes nothing. */
  settle(settlement: Settlement): void {
    const { holder, spent, returned } = settlement
    const budget = this.#budgetOf(settlement)
    const units = budget.leases.get(holder)
    if (units === undefined) return
    const settled = Math.min(spent + returned, units)
    this.#setLease(budget, holder, units - settled)
    if (spent > 0) this.#addUsed(budget, Math.min(spent, settled))
  }

  refund(key: BudgetKey): void {
    const budget = this.#budgetOf(key)
    if (budget.used > 0) this.#addUsed(budget, -1)
  }

  /** What is to be written: a lease of no units is to be removed. */
  changes(): { budgets: Budget[]; leases: LeaseRow[]; bought: PaidFile[] } {
    return {
      budgets: [...this.#budgets.values()].filter(({ isChanged }) => isChanged),
      leases: [...this.#changedLeases.values()],
      bought: this.#newlyPaid,
    }
  }

  #budgetOf(key: BudgetKey): OpenBudget {
    return this.#budgets.get(budgetName(key))!
  }

  #addUsed(budget: OpenBudget, units: number): void {
    budget.used += units
    budget.isChanged = true
  }

  #setLease(budget: OpenBudget, holder: string, units: number): void {
    const { account, day } = budget
    budget.leased += units - (budget.leases.get(holder) ?? 0)
    if (units > 0) budget.leases.set(holder, units)
    else budget.leases.delete(holder)
    this.#changedLeases.set(`${budgetName(budget)} ${holder}`, { account, day, holder, units })
  }
}

/** Tells budgets apart. */
export function budgetName({ account, day }: BudgetKey): string {
  return `${account} ${day}`
}

function paidFileName({ file, ...key }: PaidFile): string {
  return `${budgetName(key)} ${file}`
}
