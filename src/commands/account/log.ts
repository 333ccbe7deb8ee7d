/** `domaindex account log`: the audit log, who changed accounts, tokens and secrets, when, and what. */

import type { Command } from 'commander'
import type { AuditEntry, AuditFilter } from '../../accounts/audit.ts'
import type { Ledger } from '../../store/ledger.ts'
import { addDays, type Day, startOf } from '../../words/time.ts'
import { UsageFault } from '../fault.ts'
import { print } from '../result.ts'
import { withStore } from '../store.ts'
import { columns, zoned } from './print.ts'
import { readDay, readEmail } from './read.ts'

type Options = { from?: Day; to?: Day; json?: true }

/** Entries that are read at once. */
const PAGE = 1_000

export function defineLog(command: Command): void {
  command
    .command('log')
    .description('print who changed accounts, tokens and secrets, when, and what')
    .argument('[email]', 'the address of the account, also of a deleted one; without it, all changes', readEmail)
    .option('--from <day>', 'the first day (UTC)', readDay)
    .option('--to <day>', 'the last day (UTC)', readDay)
    .option('--json', 'print one JSON object: log, the oldest change first')
    .action(log)
}

async function log(email: string | undefined, { from, to, json }: Options): Promise<void> {
  if (from !== undefined && to !== undefined && to < from) throw new UsageFault(`--to ${to} lies before --from ${from}`)
  const filter: AuditFilter = {
    email: email ?? null,
    from: from === undefined ? null : startOf(from),
    to: to === undefined ? null : startOf(addDays(to, 1)),
  }
  const entries = await withStore('read', ({ ledger }) => allEntries(ledger, filter))
  print(json, { log: entries.map((entry) => ({ ...entry, time: zoned(entry.time) })) }, linesOf(entries))
}

async function allEntries(ledger: Ledger, filter: AuditFilter): Promise<AuditEntry[]> {
  const entries: AuditEntry[] = []
  for (;;) {
    const page = await ledger.audit(filter, entries.at(-1)?.id ?? 0, PAGE)
    entries.push(...page)
    if (page.length < PAGE) return entries
  }
}

function linesOf(entries: readonly AuditEntry[]): string[] {
  if (entries.length === 0) return ['no changes']
  const rows = entries.map(({ time, actor, origin, action, email, details }) => {
    return [zoned(time), actor, origin, action, email ?? '-', wordsOf(details)]
  })
  return columns([['TIME', 'BY', 'THROUGH', 'CHANGE', 'ACCOUNT', 'DETAILS'], ...rows])
}

function wordsOf(details: AuditEntry['details']): string {
  return Object.entries(details)
    .map(([key, value]) => `${key} ${Array.isArray(value) ? value.join(' ') || 'none' : String(value ?? 'none')}`)
    .join(', ')
}
