/** `domaindex account usage`: prints the counted calls by day, endpoint and token. */

import { type Command, Option } from 'commander'
import type { Account } from '../../accounts/account.ts'
import { UsageFault } from '../../config/command-fault.ts'
import type { Ledger, UsageCount } from '../../store/port/ledger.ts'
import { formatCsvRow } from '../../store/shared/csv-row.ts'
import { addDays, type Day, dayOf } from '../../values/time.ts'
import { parseDayArgument } from '../program/day-argument.ts'
import { withExistingStore } from '../program/existing-store.ts'
import { printResult } from '../program/print-result.ts'
import { parseEmailArgument } from './arguments.ts'
import { alignedColumns } from './print.ts'
import { allAccounts, requireAccount } from './read-accounts.ts'

type UsageOptions = { from?: Day; to?: Day; csv?: true; json?: true }

/** Usage with email addresses and token names instead of ids. */
type UsageRow = { day: Day; email: string; endpoint: string; token: number; token_name: string; calls: number }

/** Days shown without --from. */
const DEFAULT_USAGE_DAYS = 30
const USAGE_COLUMNS = ['day', 'email', 'endpoint', 'token', 'token_name', 'calls'] as const

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

const compareUsageRows = (a: UsageRow, b: UsageRow): number =>
  compareText(a.day, b.day) || compareText(a.email, b.email) || compareText(a.endpoint, b.endpoint) || a.token - b.token

const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

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
