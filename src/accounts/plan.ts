/** The limits of the plans, and the plan of an account on a given day. */

import type { Day } from '../values/time.ts'
import { type Account, PLANS, type Plan } from './account.ts'

export type PlanLimits = {
  /** Units per UTC day, over all tokens of the account; null: no limit. */
  dailyCalls: number | null
  /** The maximum number of rows on a page of /redirect and /reverseip. */
  pageRows: number
  /** The maximum number of states per record type in /dnshistory; null: the plan does not include the endpoint. */
  historyStates: number | null
  /** The maximum number of watches of an account. */
  watches: number
  /** The maximum number of webhooks of an account. */
  webhooks: number
  /** Hours after which the crawler probes a watched name again; null: it is probed as any other name. */
  probeHours: number | null
}

export type PlanLimitTable = Readonly<Record<Plan, PlanLimits>>

/** The limits of the specification. `local` only limits the size of a page, to limit the memory of a response. */
export const DEFAULT_PLAN_LIMITS: PlanLimitTable = {
  free: { dailyCalls: 100, pageRows: 1_000, historyStates: null, watches: 10, webhooks: 1, probeHours: null },
  basic: { dailyCalls: 25_000, pageRows: 10_000, historyStates: 10, watches: 1_000, webhooks: 10, probeHours: 24 },
  premium: { dailyCalls: 250_000, pageRows: 50_000, historyStates: 100, watches: 10_000, webhooks: 100, probeHours: 6 },
  local: { dailyCalls: null, pageRows: 50_000, historyStates: 100, watches: 100_000, webhooks: 100, probeHours: 6 },
}

/** The higher of two plans: the base plan, and the plan of the period that includes the day. */
export function planInForce({ plan, periods }: Pick<Account, 'plan' | 'periods'>, day: Day): Plan {
  const period = periods.find(({ first, last }) => first <= day && (last === null || day <= last))
  return period !== undefined && PLANS.indexOf(period.plan) > PLANS.indexOf(plan) ? period.plan : plan
}
