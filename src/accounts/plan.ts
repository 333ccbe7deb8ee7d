/** What the plans allow, and which of them is in force. */

import type { Day } from '../words/time.ts'
import { type Account, PLANS, type Plan } from './account.ts'

export type PlanLimits = {
  /** Counted calls a UTC day, over all tokens of the account; null: no limit. */
  queries: number | null
  /** Rows a page of /redirect and /reverseip, at most. */
  rows: number
  /** States a record type of /dnshistory, at most; null: the endpoint is not in the plan. */
  states: number | null
}

export type Limits = Readonly<Record<Plan, PlanLimits>>

/** The limits of the specification. `local` has none but the sizes of a page, which bound the memory that one answer takes. */
export const LIMITS: Limits = {
  free: { queries: 100, rows: 1_000, states: null },
  basic: { queries: 25_000, rows: 10_000, states: 10 },
  premium: { queries: 250_000, rows: 50_000, states: 100 },
  local: { queries: null, rows: 50_000, states: 100 },
}

/** The higher of the base plan and the period that holds the day. */
export function planInForce({ plan, periods }: Pick<Account, 'plan' | 'periods'>, day: Day): Plan {
  const period = periods.find(({ first, last }) => first <= day && (last === null || day <= last))
  return period !== undefined && PLANS.indexOf(period.plan) > PLANS.indexOf(plan) ? period.plan : plan
}
