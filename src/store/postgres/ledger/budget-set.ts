/** A set of locked budgets with their token leases: applies quota calls in memory, and returns what to write. */

import {
  type BudgetUnits,
  chargeFile,
  type FilePayment,
  grantUnits,
  type QuotaGrant,
  refundUnit,
  restoreUnits,
  settleUnits,
} from '../../../accounts/budget-arithmetic.ts'
import type { Day } from '../../../values/time.ts'
import type { FilePurchase, QuotaRequest, Settlement } from '../../port/ledger.ts'

/** The account and the day of a budget. */
export type BudgetKey = { account: number; day: Day }

export type Budget = BudgetKey & { used: number }
export type LeaseRow = BudgetKey & { holder: string; units: number }
/** A lease as it was read. `isExpired`: its units count as spent, although its holder is one of this process. */
export type ReadLease = LeaseRow & { isExpired: boolean }
/** The rows to write. A lease without units is to be deleted, and so are the expired leases that were restored. */
export type BudgetChanges = { budgets: Budget[]; leases: LeaseRow[]; restored: LeaseRow[]; newlyPaid: PaidFile[] }

/** A paid file. */
export type PaidFile = BudgetKey & { file: string }

/** An open budget: `leased` is the sum of its leases. */
type OpenBudget = Budget & { leased: number; leases: Map<string, number>; isChanged: boolean }

export class BudgetSet {
  readonly #budgets: Map<string, OpenBudget>
  readonly #changedLeases = new Map<string, LeaseRow>()
  readonly #paid: Set<string>
  readonly #newlyPaid: PaidFile[] = []
  readonly #restored: LeaseRow[]

  /** Restores the expired leases: their holders have returned. */
  constructor(budgets: readonly Budget[], leases: readonly ReadLease[], paid: readonly PaidFile[]) {
    this.#paid = new Set(paid.map(paidFileName))
    this.#budgets = new Map(
      budgets.map((budget) => [budgetName(budget), { ...budget, leased: 0, leases: new Map(), isChanged: false }]),
    )
    this.#restored = leases.filter(({ isExpired }) => isExpired)
    for (const { units, holder, isExpired, ...key } of leases) {
      if (isExpired) continue
      const budget = this.#budgetOf(key)
      budget.leases.set(holder, units)
      budget.leased += units
    }
    for (const { holder, units, ...key } of this.#restored)
      this.#setUnits(key, holder, restoreUnits(this.#unitsOf(key, holder), units))
  }

  /** `live`: the number of live processes that may need units, including the requester. */
  grant(request: QuotaRequest, live: number): QuotaGrant {
    const { grant, units } = grantUnits(this.#unitsOf(request, request.holder), request, live)
    this.#setUnits(request, request.holder, units)
    return grant
  }

  pay({ file, limit, holder, account, day }: FilePurchase): FilePayment {
    const paidFile = { account, day, file }
    const isPaid = this.#paid.has(paidFileName(paidFile))
    const { payment, units } = chargeFile(this.#unitsOf(paidFile, holder), limit, isPaid)
    this.#setUnits(paidFile, holder, units)
    if (payment.outcome === 'charged') {
      this.#paid.add(paidFileName(paidFile))
      this.#newlyPaid.push(paidFile)
    }
    return payment
  }

  settle(settlement: Settlement): void {
    const { holder } = settlement
    this.#setUnits(settlement, holder, settleUnits(this.#unitsOf(settlement, holder), settlement))
  }

  refund(key: BudgetKey): void {
    this.#setUnits(key, null, refundUnit(this.#unitsOf(key, null)))
  }

  changes(): BudgetChanges {
    return {
      budgets: [...this.#budgets.values()].filter(({ isChanged }) => isChanged),
      leases: [...this.#changedLeases.values()],
      restored: this.#restored,
      newlyPaid: this.#newlyPaid,
    }
  }

  #budgetOf(key: BudgetKey): OpenBudget {
    return this.#budgets.get(budgetName(key))!
  }

  /** The units of a budget. `holder`: whose lease is the own one; null for none. */
  #unitsOf(key: BudgetKey, holder: string | null): BudgetUnits {
    const { used, leased, leases } = this.#budgetOf(key)
    return { used, leased, ownLease: holder === null ? 0 : (leases.get(holder) ?? 0) }
  }

  #setUnits(key: BudgetKey, holder: string | null, { used, leased, ownLease }: BudgetUnits): void {
    const budget = this.#budgetOf(key)
    if (used !== budget.used) Object.assign(budget, { used, isChanged: true })
    if (holder === null || leased === budget.leased) return
    const { account, day } = budget
    budget.leased = leased
    budget.leases.set(holder, ownLease)
    this.#changedLeases.set(`${budgetName(budget)} ${holder}`, { account, day, holder, units: ownLease })
  }
}

/** Identifies a budget. */
export function budgetName({ account, day }: BudgetKey): string {
  return `${account} ${day}`
}

function paidFileName({ file, ...key }: PaidFile): string {
  return `${budgetName(key)} ${file}`
}
