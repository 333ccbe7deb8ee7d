/** What the plans allow, and which of them is in force. */

import type { Day } from '../values/time.ts'
import { type Account, PLANS, type Plan } from './account.ts'

export type PlanLimits = {
  /** Counted calls a UTC day, over all tokens of the account; null: no limit. */
  dailyCalls: number | null
  /** Rows a page of /redirect and /reverseip, at most. */
  pageRows: number
  /** States a record type of /dnshistory, at most; null: the endpoint is not in the plan. */
  historyStates: number | null
}

export type PlanLimitTable = Readonly<Record<Plan, PlanLimits>>

/** The limits of the specification. `local` has none but the sizes of a page, which bound the memory that one answer takes. */
export const DEFAULT_PLAN_LIMITS: PlanLimitTable = {
  free: { dailyCalls: 100, pageRows: 1_000, historyStates: null },
  basic: { dailyCalls: 25_000, pageRows: 10_000, historyStates: 10 },
  premium: { dailyCalls: 250_000, pageRows: 50_000, historyStates: 100 },
  local: { dailyCalls: null, pageRows: 50_000, historyStates: 100 },
}

/** The higher of the base plan and the period that holds the day. */
export function planInForce({ plan, periods }: Pick<Account, 'plan' | 'periods'>, day: Day): Plan {
  const period = periods.find(({ first, last }) => first <= day && (last === null || day <= last))
  return period !== undefined && PLANS.indexOf(period.plan) > PLANS.indexOf(plan) ? period.plan : plan
}
