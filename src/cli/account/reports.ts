/** `domaindex account list`, `show`, `usage` and `log`: what the ledger has of accounts. */

import { type Command, Option } from 'commander'
import type { Account } from '../../accounts/account.ts'
import type { AuditEntry, AuditFilter } from '../../accounts/audit.ts'
import { planInForce } from '../../accounts/plan.ts'
import { CommandFault, UsageFault } from '../../config/command-fault.ts'
import { loadPlanLimits } from '../../config/plan-limits.ts'
import { loadSettings } from '../../config/settings.ts'
import type { Ledger, UsageCount } from '../../store/port/ledger.ts'
import { formatCsvRow } from '../../store/shared/csv-row.ts'
import { addDays, type Day, dayOf, startOfDay } from '../../values/time.ts'
import { parseDayArgument } from '../program/arguments.ts'
import { withExistingStore } from '../program/existing-store.ts'
import { alignedColumns, printResult } from '../program/output.ts'
import { accountLines, accountObject, parseEmailArgument, tokenLines, tokenObject, zoned } from './print.ts'

/** Accounts per read. */
const ACCOUNT_PAGE_ROWS = 1_000

type AuditLogOptions = { from?: Day; to?: Day; json?: true }

/** Entries per read. */
const AUDIT_PAGE_ROWS = 1_000

type UsageOptions = { from?: Day; to?: Day; csv?: true; json?: true }

/** Usage with email addresses and token names instead of ids. */
type UsageRow = { day: Day; email: string; endpoint: string; token: number; token_name: string; calls: number }

/** Days shown without --from. */
const DEFAULT_USAGE_DAYS = 30
const USAGE_COLUMNS = ['day', 'email', 'endpoint', 'token', 'token_name', 'calls'] as const

const compareUsageRows = (a: UsageRow, b: UsageRow): number =>
  compareText(a.day, b.day) || compareText(a.email, b.email) || compareText(a.endpoint, b.endpoint) || a.token - b.token

const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

type ShowOptions = { json?: true }

export function defineShow(command: Command): void {
  command
    .command('list')
    .description('list all accounts by email address')
    .option('--json', 'print one JSON object: accounts')
    .action(listAccounts)
  command
    .command('show')
    .description("show an account, its tokens and today's usage")
    .argument('<email>', 'the email address of the account', parseEmailArgument)
    .option('--json', 'print one JSON object: the account, its tokens, limit and used')
    .action(showAccount)
}

async function listAccounts({ json }: ShowOptions): Promise<void> {
  const { accounts, now } = await withExistingStore('read', async ({ ledger, now }) => {
    return { accounts: await allAccounts(ledger), now: await now() }
  })
  const today = dayOf(now)
  const rows = accounts.map((account) => [
    account.email,
    account.suspended === null ? planInForce(account, today) : 'suspended',
    account.role,
    account.addons.join(', ') || '-',
  ])
  const lines = rows.length > 0 ? alignedColumns([['EMAIL', 'PLAN', 'ROLE', 'ADD-ONS'], ...rows]) : ['no accounts']
  printResult(json, { accounts: accounts.map((account) => accountObject(account, now)) }, lines)
}

/** Counts the calls of a day of an account without a limit: only its usage records them. */
async function callsWithoutLimit(ledger: Ledger, { id }: Account, day: Day): Promise<number> {
  return (await ledger.usage(id, day, day)).reduce((sum, { calls }) => sum + calls, 0)
}

async function showAccount(email: string, { json }: ShowOptions): Promise<void> {
  await withExistingStore('read', async ({ ledger, now: clock }) => {
    const account = await requireAccount(ledger, email)
    const now = await clock()
    const today = dayOf(now)
    const limit = loadPlanLimits(loadSettings())[planInForce(account, today)].dailyCalls
    const used =
      limit === null ? await callsWithoutLimit(ledger, account, today) : await ledger.usedUnits(account.id, today)
    const tokens = await ledger.tokens(account.id)
    const object = {
      ...accountObject(account, now),
      limit,
      used,
      tokens: tokens.map((token) => tokenObject(token, now)),
    }
    printResult(json, object, [
      ...accountLines(account, now),
      `  today    ${used} of ${limit ?? 'unlimited'} calls`,
      '',
      ...tokenLines(tokens, now),
    ])
  })
}

/** `domaindex account usage`: prints the counted calls by day, endpoint and token. */
export function defineUsage(command: Command): void {
  command
    .command('usage')
    .description('print the counted calls by day, endpoint and token')
    .argument('[email]', 'the email address of the account; without it, every account', parseEmailArgument)
    .option('--from <day>', `the first day (UTC); without it, the last ${DEFAULT_USAGE_DAYS} days`, parseDayArgument)
    .option('--to <day>', 'the last day (UTC)', parseDayArgument)
    .addOption(new Option('--csv', 'print CSV (RFC 4180) with a header').conflicts('json'))
    .option('--json', 'print one JSON object: from, to, usage')
    .action(printUsage)
}

async function printUsage(email: string | undefined, { from, to, csv, json }: UsageOptions): Promise<void> {
  if (from !== undefined && to !== undefined && to < from) throw new UsageFault(`--to ${to} is before --from ${from}`)
  const { rows, first } = await withExistingStore('read', async ({ ledger, now }) => {
    const first = from ?? addDays(to ?? dayOf(await now()), 1 - DEFAULT_USAGE_DAYS)
    const accounts = email === undefined ? await allAccounts(ledger) : [await requireAccount(ledger, email)]
    const rows: UsageRow[] = []
    const deleted = email === undefined ? await ledger.deletedAccounts() : []
    const closed = deleted.map((id) => ({ id, email: `deleted account ${id}` }))
    for (const account of [...accounts, ...closed]) rows.push(...(await usageRows(ledger, account, first, to ?? null)))
    return { rows: rows.toSorted(compareUsageRows), first }
  })
  if (csv) for (const line of usageCsv(rows)) console.log(line)
  else printResult(json, { from: first, to: to ?? null, usage: rows }, usageLines(rows, first, to))
}

async function usageRows(
  ledger: Ledger,
  { id, email }: Pick<Account, 'id' | 'email'>,
  from: Day,
  to: Day | null,
): Promise<UsageRow[]> {
  const usage = await ledger.usage(id, from, to)
  if (usage.length === 0) return []
  const names = new Map((await ledger.tokens(id)).map(({ id, name }) => [id, name]))
  return usage.map(({ day, endpoint, token, calls }: UsageCount) => {
    return { day, email, endpoint, token, token_name: names.get(token) ?? '', calls }
  })
}

function usageLines(rows: readonly UsageRow[], first: Day, to: Day | undefined): string[] {
  if (rows.length === 0) return [to === undefined ? `no calls since ${first}` : `no calls from ${first} to ${to}`]
  const cells = rows.map(({ day, email, endpoint, token, token_name, calls }) => {
    return [day, email, endpoint, `${token} ${token_name}`, String(calls)]
  })
  const total = rows.reduce((sum, { calls }) => sum + calls, 0)
  return [...alignedColumns([['DAY', 'EMAIL', 'ENDPOINT', 'TOKEN', 'CALLS'], ...cells]), `${total} calls`]
}

function usageCsv(rows: readonly UsageRow[]): string[] {
  return [USAGE_COLUMNS.join(), ...rows.map((row) => formatCsvRow(USAGE_COLUMNS.map((column) => String(row[column]))))]
}

/** `domaindex account log`: prints the audit log, which records who changed accounts, tokens and secrets, and when. */
export function defineLog(command: Command): void {
  command
    .command('log')
    .description('print who changed accounts, tokens and secrets, when, and what')
    .argument(
      '[email]',
      'the email address of an account; without it, all changes, also of deleted accounts',
      parseEmailArgument,
    )
    .option('--from <day>', 'the first day (UTC)', parseDayArgument)
    .option('--to <day>', 'the last day (UTC)', parseDayArgument)
    .option('--json', 'print one JSON object: log, oldest change first')
    .action(printAuditLog)
}

async function printAuditLog(email: string | undefined, { from, to, json }: AuditLogOptions): Promise<void> {
  if (from !== undefined && to !== undefined && to < from) throw new UsageFault(`--to ${to} is before --from ${from}`)
  const filter: AuditFilter = {
    email: email ?? null,
    from: from === undefined ? null : startOfDay(from),
    to: to === undefined ? null : startOfDay(addDays(to, 1)),
  }
  const entries = await withExistingStore('read', ({ ledger }) => readAllEntries(ledger, filter))
  printResult(json, { log: entries.map((entry) => ({ ...entry, time: zoned(entry.time) })) }, auditLines(entries))
}

async function readAllEntries(ledger: Ledger, filter: AuditFilter): Promise<AuditEntry[]> {
  const entries: AuditEntry[] = []
  for (;;) {
    const page = await ledger.audit(filter, entries.at(-1)?.id ?? 0, AUDIT_PAGE_ROWS)
    entries.push(...page)
    if (page.length < AUDIT_PAGE_ROWS) return entries
  }
}

function auditLines(entries: readonly AuditEntry[]): string[] {
  if (entries.length === 0) return ['no changes']
  const rows = entries.map(({ time, actor, origin, action, account, email, details }) => {
    return [
      zoned(time),
      actor,
      origin,
      action,
      email ?? (account === null ? '-' : `deleted account ${account}`),
      detailsText(details),
    ]
  })
  return alignedColumns([['TIME', 'BY', 'THROUGH', 'CHANGE', 'ACCOUNT', 'DETAILS'], ...rows])
}

function detailsText(details: AuditEntry['details']): string {
  return Object.entries(details)
    .map(([key, value]) => `${key} ${Array.isArray(value) ? value.join(' ') || 'none' : String(value ?? 'none')}`)
    .join(', ')
}

/** Returns all accounts, sorted by email address. */
async function allAccounts(ledger: Ledger): Promise<Account[]> {
  const accounts: Account[] = []
  for (;;) {
    const page = await ledger.accounts(accounts.at(-1)?.email ?? null, ACCOUNT_PAGE_ROWS)
    accounts.push(...page)
    if (page.length < ACCOUNT_PAGE_ROWS) return accounts
  }
}

/** Returns the account of an email address. Throws CommandFault if there is none. */
export async function requireAccount(ledger: Ledger, email: string): Promise<Account> {
  const account = await ledger.account(email)
  if (account === null) throw new CommandFault(`there is no account ${email}`)
  return account
}
