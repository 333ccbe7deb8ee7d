/** Checks of the rows of the ledger and of counted events, in SQL for both engines. Each statement finds wrong rows. */

import type { CheckFault } from '../../port/store.ts'
import { problemReporter } from './slice.ts'

/** Maximum reported findings of one kind. */
const MAX_LEDGER_FINDINGS = 1_000

/**
 * A kind of finding: its table, the problem, and the statement that finds such rows. `repairs`: the statements that
 * mend all of them; none if nothing else says what the rows should be.
 */
export type LedgerFinding = { table: string; problem: string; text: string; repairs?: readonly string[] }

/** The tables whose rows belong to an account, with the column that is named in a finding. */
const ACCOUNT_TABLES = {
  period: 'account',
  addon: 'account',
  token: 'id',
  usage: 'account',
  account_password: 'account',
  session: 'id',
  watch: 'id',
  webhook: 'id',
  digest: 'account',
  feed: 'account',
}

const ACCOUNT_TABLE_FINDINGS = Object.entries(ACCOUNT_TABLES).map(([table, column]): LedgerFinding => {
  const key = `t.${column}`
  const text = `select distinct ${key} as place from ${table} t where not exists (select 1 from account a where a.id = t.account)`
  return { table, problem: 'belongs to no account', text }
})

/** The number of the newest change of a watch that the ledger still has. */
const NEWEST_WATCH_CHANGE = `coalesce((select max(version) from (
  select version from watch union all select version from watch_removal) changes), 0)`

export const LEDGER_FINDINGS: readonly LedgerFinding[] = [
  ...ACCOUNT_TABLE_FINDINGS,
  ...['token', 'session', 'operator_token'].map((table) => ({
    table,
    problem: 'has no SHA-256',
    text: `select id as place from "${table}" where length(hash) <> 32`,
  })),
  {
    table: 'feed',
    problem: 'has no SHA-256',
    text: 'select account as place from feed where length(hash) <> 32',
  },
  {
    table: 'period',
    problem: 'ends before it begins, or overlaps with another one',
    text: `select distinct p.account as place from period p where p.last < p.first or exists (
      select 1 from period q where q.account = p.account and q.first > p.first and (p.last is null or q.first <= p.last))`,
  },
  {
    table: 'usage',
    problem: 'belongs to a token that the account does not have',
    text: `select distinct u.account as place from usage u where exists (select 1 from account a where a.id = u.account)
      and u.token <> 0 and not exists (select 1 from token t where t.id = u.token and t.account = u.account)`,
  },
  {
    table: 'budget',
    problem: 'has a negative number of spent units',
    text: 'select account as place from budget where used < 0',
  },
  ...['token_lease', 'expired_lease'].map((table) => ({
    table,
    problem: 'holds no unit',
    text: `select account as place from ${table} where units <= 0`,
    repairs: [`delete from ${table} where units <= 0`],
  })),
  {
    table: 'token_lease',
    problem: 'belongs to an unknown process and would never end',
    text: `select account as place from token_lease t where not exists (select 1 from lease_holder h where h.holder = t.holder)`,
    repairs: ['delete from token_lease where holder not in (select holder from lease_holder)'],
  },
  {
    table: 'delivery',
    problem: 'belongs to no webhook',
    text: 'select distinct webhook as place from delivery where webhook not in (select id from webhook)',
    repairs: ['delete from delivery where webhook not in (select id from webhook)'],
  },
  {
    table: 'delivery_count',
    problem: 'has a negative count',
    text: 'select count as place from delivery_count where count < 0',
    repairs: ['update delivery_count set count = 0 where count < 0'],
  },
  {
    table: 'watch_version',
    problem: 'is not one number, or is below that of a watch',
    text: `select v.newest as place from (select ${NEWEST_WATCH_CHANGE} as newest) v
      where (select count(*) from watch_version) <> 1 or v.newest > (select max(version) from watch_version)`,
    repairs: ['delete from watch_version', `insert into watch_version (version) select ${NEWEST_WATCH_CHANGE}`],
  },
  {
    table: 'secret',
    problem: 'is active at the same time as another one',
    text: `select number as place from secret where replaced_at is null and (select count(*) from secret where replaced_at is null) > 1`,
  },
]

/** Statements by name. `place` is the key of the row, or the account that it belongs to. */
export const LEDGER_FINDING_QUERIES = LEDGER_FINDINGS.map((finding, number) => ({
  ...finding,
  name: `check.ledger-${number}`,
  text: `${finding.text} order by 1 limit ${MAX_LEDGER_FINDINGS}`,
}))

/** The events of an account on the day of its counter `c`. */
const EVENTS_OF_DAY = `(select count(*) from event e where e.account = c.account
  and e.time >= cast(c.day as bigint) * 86400 and e.time < (cast(c.day as bigint) + 1) * 86400)`

/** Events may be fewer than are counted, because those of a forgotten name are deleted. */
export const EVENT_FINDING: LedgerFinding & { name: string } = {
  table: 'event_count',
  problem: 'counts fewer events than the account got on that day',
  name: 'check.event-counts',
  text: `select c.account as place from event_count c where c.events < ${EVENTS_OF_DAY} order by 1 limit ${MAX_LEDGER_FINDINGS}`,
  repairs: [
    `update event_count set events = (select ${EVENTS_OF_DAY} from event_count c where c.account = event_count.account)
      where account in (select c.account from event_count c where c.events < ${EVENTS_OF_DAY})`,
  ],
}

/** Counts the rows of the ledger's tables. */
export const LEDGER_ROWS = {
  name: 'check.ledger-rows',
  text: `select ${[
    'account',
    'period',
    'addon',
    'token',
    'budget',
    'token_lease',
    'expired_lease',
    'lease_holder',
    'usage',
    'secret',
    'paid_file',
    'place_mark',
    'account_password',
    'session',
    'one_time_link',
    'attempt',
    'operator_token',
    'idempotent_answer',
    'audit',
    'watch',
    'webhook',
    'delivery',
    'digest',
    'feed',
  ]
    .map((table) => `(select count(*) from "${table}")`)
    .join(' + ')} as rows`,
}

/** The statements that mend faults, each once. */
export function ledgerRepairs(faults: readonly CheckFault[]): string[] {
  const found = [EVENT_FINDING, ...LEDGER_FINDINGS].filter(({ table, problem }) =>
    faults.some((fault) => fault.table === table && fault.problem === problem),
  )
  return found.flatMap(({ repairs = [] }) => repairs)
}

/** The faults of one statement's rows. */
export function ledgerFaults({ table, problem }: LedgerFinding, rows: readonly { place: number }[]): CheckFault[] {
  const faults: CheckFault[] = []
  for (const { place } of rows) problemReporter(faults, table, String(place))(problem)
  return faults
}
