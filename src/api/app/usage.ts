/** The usage of an account for the web page: calls by day, endpoint and token, as JSON and CSV. */

import type { UsageCount } from '../../store/port/ledger.ts'
import { addDays, type Day, startOfDay } from '../../values/time.ts'
import type { ApiContext } from '../context.ts'
import type { Parameters } from '../endpoints/parameters.ts'
import { quotaStatus } from '../quota/quota-status.ts'
import { type AppHandler, jsonResponse } from './app-handler.ts'
import { readDay, utcText, valueError } from './request-values.ts'

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
