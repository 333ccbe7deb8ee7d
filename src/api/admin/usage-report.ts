/** The usage of one account or of all for operators, as JSON and CSV: calls by day, endpoint and token. */

import type { Account } from '../../accounts/account.ts'
import type { Day } from '../../values/time.ts'
import { jsonResponse } from '../app/app-handler.ts'
import { csvText, readDays, readUsage } from '../app/usage.ts'
import type { ApiContext } from '../context.ts'
import type { OperatorResponse } from './repeated-request.ts'
import type { OperatorCall } from './route.ts'
import { readAccount, readCount } from './values.ts'

type UsageLine = {
  day: Day
  account: number
  email: string
  endpoint: string
  token: number
  token_name: string
  calls: number
}

type UsageReport = { from: Day; to: Day; usage: UsageLine[]; next: string | null }

/** Days of a report about all accounts: a quarter. */
const MAX_DAYS_OF_ALL = 93
const ACCOUNT_ROWS = { fallback: 100, max: 1_000 }
/** A page ends after the account with which it has so many lines. */
const MAX_LINES = 50_000

export async function showAccountUsage(call: OperatorCall): Promise<OperatorResponse> {
  return jsonResponse(200, await reportOfAccount(call))
}

export async function downloadAccountUsage(call: OperatorCall): Promise<OperatorResponse> {
  return csvResponse(await reportOfAccount(call), null)
}

export async function showUsageOfAll(call: OperatorCall): Promise<OperatorResponse> {
  return jsonResponse(200, await reportOfAll(call))
}

export async function downloadUsageOfAll(call: OperatorCall): Promise<OperatorResponse> {
  const report = await reportOfAll(call)
  const { from, to, next } = report
  const { limit } = call.query
  const query = new URLSearchParams({ from, to, after: next ?? '', ...(typeof limit === 'string' && { limit }) })
  return csvResponse(report, next === null ? null : `/admin/v1/usage.csv?${query}`)
}

async function reportOfAccount(call: OperatorCall): Promise<UsageReport> {
  const days = readDays(call.query, call.operator.today)
  const usage = await linesOf(call.context, await readAccount(call), days)
  return { from: days[0]!, to: days.at(-1)!, usage, next: null }
}

/** `next`: the address of the last account, if further ones follow. */
async function reportOfAll({ context, operator, query }: OperatorCall): Promise<UsageReport> {
  const days = readDays(query, operator.today, MAX_DAYS_OF_ALL)
  const limit = readCount(query.limit, 'limit', ACCOUNT_ROWS)
  const accounts = await context.ledger.accounts(String(query.after ?? '').toLowerCase(), limit + 1)
  const usage: UsageLine[] = []
  let last: string | null = null
  if (query.after === undefined || query.after === '')
    for (const id of await context.ledger.deletedAccounts()) usage.push(...(await deletedLinesOf(context, id, days)))
  for (const account of accounts.slice(0, limit)) {
    usage.push(...(await linesOf(context, account, days)))
    last = account.email
    if (usage.length >= MAX_LINES) break
  }
  return { from: days[0]!, to: days.at(-1)!, usage, next: accounts.at(-1)?.email === last ? null : last }
}

async function linesOf(context: ApiContext, account: Account, days: readonly Day[]): Promise<UsageLine[]> {
  const { counts, names } = await readUsage(context, { account }, days)
  const { id, email } = account
  return counts.map(({ day, endpoint, token, calls }) => {
    return { day, account: id, email, endpoint, token, token_name: names.get(token) ?? '', calls }
  })
}

/** The usage of a deleted account, which has neither a mail address nor names of tokens. */
async function deletedLinesOf({ ledger }: ApiContext, account: number, days: readonly Day[]): Promise<UsageLine[]> {
  const counts = await ledger.usage(account, days[0]!, days.at(-1)!)
  const email = `deleted account ${account}`
  return counts.map((count) => ({ ...count, account, email, token_name: '' }))
}

/** `next`: the path of the next page, for the header Link (RFC 8288). */
function csvResponse({ from, to, usage }: UsageReport, next: string | null): OperatorResponse {
  const lines = usage.map(({ day, account, email, endpoint, token, token_name, calls }) =>
    [day, account, csvText(email), endpoint, token, csvText(token_name), calls].join(),
  )
  const body = `${['day,account,email,endpoint,token,token_name,calls', ...lines].join('\n')}\n`
  const link = next === null ? [] : ['Link', `<${next}>; rel="next"`]
  const headers = ['Content-Disposition', `attachment; filename="usage-${from}-${to}.csv"`, ...link]
  return { status: 200, body: [body], headers, type: 'text/csv; charset=utf-8' }
}
