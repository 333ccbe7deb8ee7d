/** The plan of an account and its usage for the web page: calls by day, endpoint and token, as JSON and CSV. */

import { planInForce } from '../../accounts/plan.ts'
import type { UsageCount } from '../../store/port/ledger.ts'
import { addDays, type Day, startOfDay, utcText } from '../../values/time.ts'
import type { Caller } from '../auth/authenticator.ts'
import type { ApiContext } from '../context/context.ts'
import { authorizeDaily } from '../endpoints/daily.ts'
import { authorizeHistory } from '../endpoints/dnshistory.ts'
import type { V1EndpointName } from '../endpoints/endpoint.ts'
import { authorizeSnapshot } from '../endpoints/snapshot.ts'
import { isAuthorized } from '../files/file-list.ts'
import type { Parameters } from '../http/parameters.ts'
import { jsonResponse } from '../http/response.ts'
import { quotaStatus } from '../quota/rate-limit.ts'
import type { AppHandler } from './app-handler.ts'
import { readDay, valueError } from './request-values.ts'

/** Whose usage is read. */
type AccountCaller = { account: { id: number } }

const DEFAULT_USAGE_DAYS = 30
const MAX_USAGE_DAYS = 400

/** The name of token 0, under which calls of sessions are recorded. */
const WEB_PAGE = 'web page'

export const showUsage: AppHandler = async (context, caller, request) => {
  const days = readDays(request.query as Parameters, caller.today)
  const { reset, ...status } = await quotaStatus(context, caller)
  const { counts, names } = await readUsage(context, caller, days)
  const byDay = Map.groupBy(counts, ({ day }) => day)
  return jsonResponse(200, {
    ...status,
    reset: utcText(reset),
    days: days.map((day) => dayObject(day, byDay.get(day) ?? [])),
    tokens: Object.fromEntries([...new Set(counts.map(({ token }) => token))].map((id) => [id, names.get(id) ?? ''])),
  })
}

export const downloadUsage: AppHandler = async (context, caller, request) => {
  const days = readDays(request.query as Parameters, caller.today)
  const { counts, names } = await readUsage(context, caller, days)
  const rows = counts.map(({ day, endpoint, token, calls }) =>
    [day, endpoint, token, csvText(names.get(token) ?? ''), calls].join(),
  )
  const body = `${['day,endpoint,token,token_name,calls', ...rows].join('\n')}\n`
  const disposition = `attachment; filename="usage-${days[0]}-${days.at(-1)}.csv"`
  return { status: 200, body: [body], headers: ['Content-Disposition', disposition], type: 'text/csv; charset=utf-8' }
}

/** The days of a query, at most `max`. Throws `value_invalid`. */
export function readDays(query: Parameters, today: Day, max = MAX_USAGE_DAYS): Day[] {
  const to = readDay(query, 'to') ?? today
  const from = readDay(query, 'from') ?? addDays(to, 1 - DEFAULT_USAGE_DAYS)
  if (from > to) throw valueError('from', '"from" must not be after "to".')
  const count = Math.round((startOfDay(to) - startOfDay(from)) / 86_400) + 1
  if (count > max) throw valueError('from', `At most ${max} days can be shown at once.`)
  return Array.from({ length: count }, (_, index) => addDays(from, index))
}

export async function readUsage({ ledger }: ApiContext, { account: { id } }: AccountCaller, days: readonly Day[]) {
  const [counts, tokens] = await Promise.all([ledger.usage(id, days[0]!, days.at(-1)!), ledger.tokens(id)])
  return { counts, names: new Map([[0, WEB_PAGE], ...tokens.map((token): [number, string] => [token.id, token.name])]) }
}

function dayObject(day: Day, counts: readonly UsageCount[]): object {
  const sumBy = (key: 'endpoint' | 'token'): Record<string, number> => {
    const sums: Record<string, number> = {}
    for (const count of counts) sums[count[key]] = (sums[count[key]] ?? 0) + count.calls
    return sums
  }
  return {
    day,
    calls: counts.reduce((sum, { calls }) => sum + calls, 0),
    endpoints: sumBy('endpoint'),
    tokens: sumBy('token'),
  }
}

/** A quoted field. A text that a spreadsheet would run as a formula gets an apostrophe in front of it. */
export function csvText(text: string): string {
  const harmless = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text
  return `"${harmless.replaceAll('"', '""')}"`
}

/** What each endpoint needs, and the check that it makes. */
const REQUIREMENTS: Record<V1EndpointName, { needs: string; authorize: (caller: Caller) => void }> = {
  lookup: { needs: 'free', authorize: () => {} },
  redirect: { needs: 'free', authorize: () => {} },
  reverseip: { needs: 'free', authorize: () => {} },
  dnshistory: { needs: 'basic', authorize: authorizeHistory },
  daily: { needs: 'basic', authorize: authorizeDaily },
  snapshot: { needs: 'export', authorize: ({ account }) => authorizeSnapshot(account, 'snapshot') },
  similar: { needs: 'free', authorize: () => {} },
}

/** What the plan includes, and what the rest needs. */
export const showPlan: AppHandler = (_context, caller) => {
  const { account, limits, today } = caller
  return jsonResponse(200, {
    plan: planInForce(account, today),
    base_plan: account.plan,
    limits: { daily_calls: limits.dailyCalls, page_rows: limits.pageRows, history_states: limits.historyStates },
    periods: account.periods.map(({ plan, first, last }) => ({ plan, first, last })),
    addons: account.addons,
    endpoints: Object.entries(REQUIREMENTS).map(([name, { needs, authorize }]) => {
      return { name, allowed: isAuthorized(() => authorize(caller)), needs }
    }),
  })
}
