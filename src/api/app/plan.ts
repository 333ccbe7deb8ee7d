/** The plan of an account for the web page: what it opens, and what the rest needs. */

import { planInForce } from '../../accounts/plan.ts'
import type { Caller } from '../auth/authenticator.ts'
import { authorizeDaily } from '../endpoints/daily.ts'
import { authorizeHistory } from '../endpoints/dnshistory.ts'
import type { EndpointName } from '../endpoints/endpoint.ts'
import { authorizeSnapshot } from '../endpoints/snapshot.ts'
import { isAuthorized } from '../http/files/file-access.ts'
import { type AppHandler, jsonResponse } from './app-handler.ts'

/** What each endpoint needs, and the check that it makes. */
const REQUIREMENTS: readonly { name: EndpointName; needs: string; authorize: (caller: Caller) => void }[] = [
  { name: 'lookup', needs: 'free', authorize: () => {} },
  { name: 'redirect', needs: 'free', authorize: () => {} },
  { name: 'reverseip', needs: 'free', authorize: () => {} },
  { name: 'dnshistory', needs: 'basic', authorize: authorizeHistory },
  { name: 'daily', needs: 'basic', authorize: authorizeDaily },
  { name: 'snapshot', needs: 'export', authorize: ({ account }) => authorizeSnapshot(account, 'snapshot') },
  { name: 'similar', needs: 'free', authorize: () => {} },
]

export const showPlan: AppHandler = (_context, caller) => {
  const { account, limits, today } = caller
  return jsonResponse(200, {
    plan: planInForce(account, today),
    base_plan: account.plan,
    limits: { daily_calls: limits.dailyCalls, page_rows: limits.pageRows, history_states: limits.historyStates },
    periods: account.periods.map(({ plan, first, last }) => ({ plan, first, last })),
    addons: account.addons,
    endpoints: REQUIREMENTS.map(({ name, needs, authorize }) => {
      return { name, allowed: isAuthorized(() => authorize(caller)), needs }
    }),
  })
}
