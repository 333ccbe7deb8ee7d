/** The arithmetic of a day's budget: which units the ledger grants, settles, refunds and charges, on every engine. */

import { leaseSize } from './quota-lease-rules.ts'

/** The spent units of a budget, the units of all its leases, and those of the lease that a call is about. */
export type BudgetUnits = { used: number; leased: number; ownLease: number }

/**
 * `granted` units belong to the caller. A single unit is spent immediately; several are a lease that the caller must
 * settle. 0 with `retryLater` means that other holders are returning unused units, so the caller should retry soon. 0
 * without it means that the budget is spent. `used` counts spent units.
 */
export type QuotaGrant = { granted: number; used: number; retryLater: boolean }

/**
 * `charged`: one unit was spent. `already_paid`: the account has paid for it on that day. `retry_later`: other holders
 * are returning unused units, so retry soon. `limit_reached`: the budget is spent and the file is not paid for.
 */
export type FilePayment = { outcome: 'charged' | 'already_paid' | 'retry_later' | 'limit_reached'; used: number }

/**
 * Grants at most `requested` units, and none that would exceed `limit`. `liveProcesses`: the processes that may need
 * units, including the caller. Returns the grant and the units to store.
 */
export function grantUnits(
  units: BudgetUnits,
  { limit, requested }: { limit: number; requested: number },
  liveProcesses: number,
): { grant: QuotaGrant; units: BudgetUnits } {
  const { used, leased, ownLease } = units
  const remaining = limit - used - leased
  if (remaining <= 0) return { grant: { granted: 0, used, retryLater: leased > 0 }, units }
  const granted = leaseSize(remaining, requested, liveProcesses)
  const after =
    granted === 1
      ? { used: used + 1, leased, ownLease }
      : { used, leased: leased + granted, ownLease: ownLease + granted }
  return { grant: { granted, used: after.used, retryLater: false }, units: after }
}

/**
 * Spends `spent` units of the own lease and returns `returned` units. Settles at most the units of the lease: forfeited
 * units are spent already, so their settlement changes nothing.
 */
export function settleUnits(
  { used, leased, ownLease }: BudgetUnits,
  { spent, returned }: { spent: number; returned: number },
): BudgetUnits {
  const settled = Math.min(spent + returned, ownLease)
  return { used: used + Math.min(spent, settled), leased: leased - settled, ownLease: ownLease - settled }
}

/** Makes the units of an expired lease, which count as spent, units of the own lease again: its holder has returned. */
export function restoreUnits({ used, leased, ownLease }: BudgetUnits, expired: number): BudgetUnits {
  return { used: used - expired, leased: leased + expired, ownLease: ownLease + expired }
}

/** Returns one unit that was spent immediately. */
export function refundUnit({ used, ...units }: BudgetUnits): BudgetUnits {
  return { ...units, used: Math.max(0, used - 1) }
}

/** Charges one unit for a file, unless it is paid for. The caller records a file that was charged as paid. */
export function chargeFile(
  units: BudgetUnits,
  limit: number,
  isPaid: boolean,
): { payment: FilePayment; units: BudgetUnits } {
  if (isPaid) return { payment: { outcome: 'already_paid', used: units.used }, units }
  const { grant, units: after } = grantUnits(units, { limit, requested: 1 }, 1)
  if (grant.granted > 0) return { payment: { outcome: 'charged', used: after.used }, units: after }
  return { payment: { outcome: grant.retryLater ? 'retry_later' : 'limit_reached', used: after.used }, units }
}
