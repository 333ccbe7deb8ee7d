/** A set of locked budgets with their token leases: applies quota calls in memory, and returns what to write. */

import { leaseSize } from '../../../accounts/quota-lease-rules.ts'
import type { Day } from '../../../values/time.ts'
import type { FilePayment, FilePurchase, QuotaGrant, QuotaRequest, Settlement } from '../../port/ledger.ts'

/** The account and the day of a budget. */
export type BudgetKey = { account: number; day: Day }

export type Budget = BudgetKey & { used: number }
export type LeaseRow = BudgetKey & { holder: string; units: number }

/** A paid file. */
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

  /** `live`: the number of live processes that may need units, including the requester. */
  grant(request: QuotaRequest, live: number): QuotaGrant {
    const budget = this.#budgetOf(request)
    const { used, leased } = budget
    const available = request.limit - used - leased
    if (available <= 0) return { granted: 0, used, leased, retryLater: leased > 0 }
    const granted = leaseSize(available, request.requested, live)
    if (granted === 1) this.#addUsed(budget, 1)
    else this.#setLease(budget, request.holder, (budget.leases.get(request.holder) ?? 0) + granted)
    return { granted, used: budget.used, leased: budget.leased, retryLater: false }
  }

  pay({ file, ...request }: FilePurchase): FilePayment {
    const paid = { account: request.account, day: request.day, file }
    const key = paidFileName(paid)
    if (this.#paid.has(key)) return { outcome: 'already_paid', used: this.#budgetOf(request).used }
    const { granted, used, retryLater } = this.grant({ ...request, requested: 1 }, 1)
    if (granted === 0) return { outcome: retryLater ? 'retry_later' : 'limit_reached', used }
    this.#paid.add(key)
    this.#newlyPaid.push(paid)
    return { outcome: 'charged', used }
  }

  /** A silent holder has no lease any more, so settling changes nothing. */
  settle(settlement: Settlement): void {
    const { holder, spent, returned } = settlement
    const budget = this.#budgetOf(settlement)
    const units = budget.leases.get(holder)
    if (units === undefined) return
    const settledUnits = Math.min(spent + returned, units)
    this.#setLease(budget, holder, units - settledUnits)
    if (spent > 0) this.#addUsed(budget, Math.min(spent, settledUnits))
  }

  refund(key: BudgetKey): void {
    const budget = this.#budgetOf(key)
    if (budget.used > 0) this.#addUsed(budget, -1)
  }

  /** The changes to write. A lease without units is to be deleted. */
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

/** Identifies a budget. */
export function budgetName({ account, day }: BudgetKey): string {
  return `${account} ${day}`
}

function paidFileName({ file, ...key }: PaidFile): string {
  return `${budgetName(key)} ${file}`
}
