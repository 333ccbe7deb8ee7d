/** `domaindex account log`: prints the audit log, which records who changed accounts, tokens and secrets, and when. */

import type { Command } from 'commander'
import type { AuditEntry, AuditFilter } from '../../accounts/audit.ts'
import { UsageFault } from '../../config/command-fault.ts'
import type { Ledger } from '../../store/port/ledger.ts'
import { addDays, type Day, startOfDay } from '../../values/time.ts'
import { parseDayArgument } from '../program/day-argument.ts'
import { withExistingStore } from '../program/existing-store.ts'
import { printResult } from '../program/print-result.ts'
import { parseEmailArgument } from './arguments.ts'
import { alignedColumns, zoned } from './print.ts'

type AuditLogOptions = { from?: Day; to?: Day; json?: true }

/** Entries per read. */
const AUDIT_PAGE_ROWS = 1_000

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
