/** Removes old rows of the ledger, in slices: usage, the audit log, and what has expired. */

import { SESSION_IDLE_SECONDS, SESSION_MAX_SECONDS } from '../../accounts/session.ts'
import { addDays, type Day, dayOf, type Instant } from '../../values/time.ts'
import { ANSWER_SECONDS } from '../port/accounts/operator.ts'
import type { LedgerKind, LedgerSlice } from '../port/retention.ts'
import { OPERATORS } from './operators.ts'
import { type LedgerRead, type LedgerStatement, ledgerStatements, row, run, type Transaction } from './session.ts'
import { SIGN_IN } from './sign-in.ts'

/** The rows of one table that a slice removes, and the accounts that it looks at. */
const SLICE_ROWS = 500
const SLICE_ACCOUNTS = 200
/** Days for which the budget of a day, and what else counts by day, is of use: another process may be a day behind. */
const BUDGET_DAYS = 2

/** The key of each table whose rows belong to an account and a day. */
const DAY_TABLES = {
  usage: 'account, day, endpoint, token',
  closed_usage: 'account, day, endpoint, token',
  budget: 'account, day',
  paid_file: 'account, day, file',
  lookup_request_count: 'account, day',
} as const
type DayTable = keyof typeof DAY_TABLES

const TABLES_OF_KIND = {
  usage: ['usage', 'closed_usage'],
  expired: ['budget', 'paid_file', 'lookup_request_count'],
} satisfies Partial<Record<LedgerKind, DayTable[]>>

/** `$1` and `$2`: the accounts, after the first and up to the second; `$3`: the first day that stays. */
const removalOf = (table: DayTable): string => {
  const key = DAY_TABLES[table]
  return `delete from ${table} where (${key}) in (select ${key} from ${table}
    where account > $1 and account <= $2 and day < $3 limit ${SLICE_ROWS} for update skip locked)`
}
const countOf = (tables: readonly DayTable[]): string =>
  tables.map((table) => `(select count(*) from ${table} where day < $1)`).join(' + ')

const SESSION_HAS_ENDED = 'created <= $1 or last_used <= $2'

/** The removals skip locked rows: they never wait for a writer. */
export const PRUNING = ledgerStatements('prune', {
  lastAccount: `select coalesce(max(account), 0) as account
    from (select max(id) as account from account union all select max(account) from closed_usage) as accounts`,
  usage: removalOf('usage'),
  closed_usage: removalOf('closed_usage'),
  budget: removalOf('budget'),
  paid_file: removalOf('paid_file'),
  lookup_request_count: removalOf('lookup_request_count'),
  audit: `delete from audit where id in
    (select id from (select id, time from audit order by id limit ${SLICE_ROWS}) as oldest where time < $1)`,
  sessions: `delete from session where id in
    (select id from session where ${SESSION_HAS_ENDED} limit ${SLICE_ROWS} for update skip locked)`,

  countUsage: `select ${countOf(TABLES_OF_KIND.usage)} as count`,
  countAudit: 'select count(*) as count from audit where time < $1',
  countDays: `select ${countOf(TABLES_OF_KIND.expired)} as count`,
  countSessions: `select count(*) as count from session where ${SESSION_HAS_ENDED}`,
  countTimed: `select (select count(*) from one_time_link where expires <= $1)
    + (select count(*) from attempt where ends <= $1)
    + (select count(*) from idempotent_answer where created <= $2) as count`,
})

const lastBudgetDay = (now: Instant): Day => addDays(dayOf(now), -BUDGET_DAYS)
const sessionEnds = (now: Instant): Instant[] => [now - SESSION_MAX_SECONDS, now - SESSION_IDLE_SECONDS]

export const pruningTransactions = {
  /** `after`: the last account of the slice before. */
  *prune(now: Instant, kind: LedgerKind, before: Instant, after: number): Transaction<LedgerSlice> {
    if (kind === 'audit') {
      const removed = yield* run(PRUNING.audit, [before])
      return { removed, next: removed < SLICE_ROWS ? null : 0 }
    }
    const timed = kind === 'expired' && after === 0 ? yield* pruneTimed(now) : { removed: 0, isFull: false }
    if (timed.isFull) return { removed: timed.removed, next: 0 }
    const days = yield* pruneDays(TABLES_OF_KIND[kind], kind === 'usage' ? dayOf(before) : lastBudgetDay(now), after)
    return { ...days, removed: days.removed + timed.removed }
  },
}

/** Removes what ends at a time. `isFull`: there may be more. */
function* pruneTimed(now: Instant): Transaction<{ removed: number; isFull: boolean }> {
  const removals: [LedgerStatement, Instant[]][] = [
    [PRUNING.sessions, sessionEnds(now)],
    [SIGN_IN.removeExpiredLinks, [now]],
    [SIGN_IN.removeEndedAttempts, [now]],
    [OPERATORS.removeOldAnswers, [now - ANSWER_SECONDS]],
  ]
  let removed = 0
  for (const [statement, values] of removals) removed += yield* run(statement, values)
  return { removed, isFull: removed >= SLICE_ROWS }
}

/** Removes the rows before a day of the next accounts. */
function* pruneDays(tables: readonly DayTable[], first: Day, after: number): Transaction<LedgerSlice> {
  const { account: last } = (yield* row<{ account: number }>(PRUNING.lastAccount, []))!
  const to = Math.min(last, after + SLICE_ACCOUNTS)
  let removed = 0
  let isFull = false
  for (const table of tables) {
    const ofTable = yield* run(PRUNING[table], [after, to, first])
    removed += ofTable
    if (ofTable >= SLICE_ROWS) isFull = true
  }
  return { removed, next: isFull ? after : to < last ? to : null }
}

export function pruningReads(read: LedgerRead) {
  const count = async (statement: LedgerStatement, values: readonly unknown[]): Promise<number> =>
    (await read<{ count: number }>(statement, values))[0]!.count
  return {
    async prunableRows(kind: LedgerKind, before: Instant, now: Instant): Promise<number> {
      if (kind === 'audit') return count(PRUNING.countAudit, [before])
      if (kind === 'usage') return count(PRUNING.countUsage, [dayOf(before)])
      const counts = [
        count(PRUNING.countDays, [lastBudgetDay(now)]),
        count(PRUNING.countSessions, sessionEnds(now)),
        count(PRUNING.countTimed, [now, now - ANSWER_SECONDS]),
      ]
      return (await Promise.all(counts)).reduce((sum, each) => sum + each, 0)
    },
  }
}
