/** The reports for operators: usage as JSON and CSV, the audit log, the state of operation; and held daily files. */

import { type Account, parseEmail } from '../../accounts/account.ts'
import { AUDIT_ACTIONS, type AuditAction } from '../../accounts/audit.ts'
import { fileName } from '../../jobs/file-store/file-store.ts'
import { addDays, type Day, startOfDay, utcText } from '../../values/time.ts'
import { readDay, valueError } from '../app/request-values.ts'
import { csvText, readDays, readUsage } from '../app/usage.ts'
import type { ApiContext } from '../context/context.ts'
import { ApiError } from '../http/errors.ts'
import { jsonResponse } from '../http/response.ts'
import type { OperatorCall, OperatorResponse } from './route.ts'
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

const AUDIT_ROWS = { fallback: 50, max: 500 }

/** Throws `value_invalid` for an unknown action. */
function readAction(text: unknown): AuditAction | null {
  if (text === undefined || text === '') return null
  const action = AUDIT_ACTIONS.find((each) => each === text)
  if (action === undefined) throw valueError('action', `"action" must be one of ${AUDIT_ACTIONS.join(', ')}.`)
  return action
}

export async function showAuditReport({ context, query }: OperatorCall): Promise<OperatorResponse> {
  const [from, to] = [readDay(query, 'from'), readDay(query, 'to')]
  const limit = readCount(query.limit, 'limit', AUDIT_ROWS)
  const before = query.before === undefined ? null : readCount(query.before, 'before', { fallback: 1, max: 1e12 })
  const email = query.email === undefined || query.email === '' ? null : parseEmail(String(query.email))
  if (query.email && email === null) throw valueError('email', '"email" must be an email address.')
  const filter = {
    email,
    action: readAction(query.action),
    from: from === null ? null : startOfDay(from),
    to: to === null ? null : startOfDay(addDays(to, 1)),
  }
  const entries = await context.ledger.recentAudit(filter, before, limit + 1)
  const shown = entries.slice(0, limit)
  return jsonResponse(200, {
    entries: shown.map((entry) => ({ ...entry, time: utcText(entry.time) })),
    next: entries.length > limit ? shown.at(-1)!.id : null,
  })
}

/** The state of the crawl and of the nightly jobs. Throws `not_found` if this server has no access to them. */
export async function showOperation({ context: { operation, installation } }: OperatorCall): Promise<OperatorResponse> {
  if (operation === null) throw new ApiError('not_found')
  return jsonResponse(200, { version: installation.version, ...(await operation()) })
}

/**
 * Requests the release of the held file of a day, which the job scheduler then builds again. Throws `not_found` if it has
 * none, and `conflict` if it is not held.
 */
export async function requestReleaseByOperator({ context, operator, body }: OperatorCall): Promise<OperatorResponse> {
  const date = readDay(body, 'date')
  if (date === null) throw valueError('date', 'Send the day of the file as "date", such as 2026-01-31.')
  const file = await context.fileStore.open(fileName('daily', date))
  if (file === null) throw new ApiError('not_found', { msg: `There is no file of ${date}.` })
  const { held } = file.manifest
  await file.close()
  if (held === null) throw new ApiError('conflict', { msg: `The file of ${date} is not held.` })
  await context.ledger.as(operator.actor).requestRelease(date, operator.now)
  return jsonResponse(202, { date, release_requested: true })
}
