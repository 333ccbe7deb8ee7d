/** `domaindex account usage`: the calls that counted, by day, endpoint and token. */

import { type Command, Option } from 'commander'
import type { Account } from '../../accounts/account.ts'
import type { Ledger, Usage } from '../../store/ledger.ts'
import { addDays, type Day, dayOf } from '../../words/time.ts'
import { UsageFault } from '../fault.ts'
import { print } from '../result.ts'
import { withStore } from '../store.ts'
import { columns } from './print.ts'
import { accountOf, allAccounts, readDay, readEmail } from './read.ts'

type Options = { from?: Day; to?: Day; csv?: true; json?: true }

/** Usage with the names that people know. */
type Row = { day: Day; email: string; endpoint: string; token: number; token_name: string; calls: number }

/** Days that are shown without --from. */
const DAYS = 30
const COLUMNS = ['day', 'email', 'endpoint', 'token', 'token_name', 'calls'] as const

export function defineUsage(command: Command): void {
  command
    .command('usage')
    .description('print the calls that counted, by day, endpoint and token')
    .argument('[email]', 'the address of the account; without it, every account', readEmail)
    .option('--from <day>', `the first day (UTC); without it, the last ${DAYS} days`, readDay)
    .option('--to <day>', 'the last day (UTC)', readDay)
    .addOption(new Option('--csv', 'print CSV (RFC 4180) with a header').conflicts('json'))
    .option('--json', 'print one JSON object: from, to, usage')
    .action(usage)
}

async function usage(email: string | undefined, { from, to, csv, json }: Options): Promise<void> {
  if (from !== undefined && to !== undefined && to < from) throw new UsageFault(`--to ${to} lies before --from ${from}`)
  const { rows, first } = await withStore('read', async ({ ledger, now }) => {
    const first = from ?? addDays(to ?? dayOf(await now()), 1 - DAYS)
    const accounts = email === undefined ? await allAccounts(ledger) : [await accountOf(ledger, email)]
    const rows: Row[] = []
    for (const account of accounts) rows.push(...(await rowsOf(ledger, account, first, to ?? null)))
    return { rows: rows.toSorted(inOrder), first }
  })
  if (csv) for (const line of csvOf(rows)) console.log(line)
  else print(json, { from: first, to: to ?? null, usage: rows }, linesOf(rows, first, to))
}

async function rowsOf(ledger: Ledger, { id, email }: Account, from: Day, to: Day | null): Promise<Row[]> {
  const usage = await ledger.usage(id, from, to)
  if (usage.length === 0) return []
  const names = new Map((await ledger.tokens(id)).map(({ id, name }) => [id, name]))
  return usage.map(({ day, endpoint, token, calls }: Usage) => {
    return { day, email, endpoint, token, token_name: names.get(token) ?? '', calls }
  })
}

const inOrder = (a: Row, b: Row): number =>
  compare(a.day, b.day) || compare(a.email, b.email) || compare(a.endpoint, b.endpoint) || a.token - b.token

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

function linesOf(rows: readonly Row[], first: Day, to: Day | undefined): string[] {
  if (rows.length === 0) return [to === undefined ? `no calls since ${first}` : `no calls from ${first} to ${to}`]
  const cells = rows.map(({ day, email, endpoint, token, token_name, calls }) => {
    return [day, email, endpoint, `${token} ${token_name}`, String(calls)]
  })
  const total = rows.reduce((sum, { calls }) => sum + calls, 0)
  return [...columns([['DAY', 'EMAIL', 'ENDPOINT', 'TOKEN', 'CALLS'], ...cells]), `${total} calls`]
}

function csvOf(rows: readonly Row[]): string[] {
  return [COLUMNS.join(), ...rows.map((row) => COLUMNS.map((column) => fieldOf(String(row[column]))).join())]
}

/** A field of CSV, RFC 4180, chapter 2. */
function fieldOf(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
