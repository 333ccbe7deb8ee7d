/** Checks of the ledger's rows, in SQL for both engines. Each statement finds wrong rows. */

import type { CheckFault } from '../../port/store.ts'
import { problemReporter } from './slice.ts'

/** Maximum reported findings of one kind. */
const MAX_LEDGER_FINDINGS = 1_000

/** A kind of finding: its table, the problem, and the statement that finds such rows. */
type LedgerFinding = { table: string; problem: string; text: string }

const ACCOUNT_TABLE_FINDINGS = ['period', 'addon', 'token', 'usage', 'account_password', 'session'].map(
  (table): LedgerFinding => {
    const key = table === 'token' || table === 'session' ? 't.id' : 't.account'
    const text = `select distinct ${key} as place from ${table} t where not exists (select 1 from account a where a.id = t.account)`
    return { table, problem: 'belongs to no account', text }
  },
)

const ALL_LEDGER_FINDINGS: readonly LedgerFinding[] = [
  ...ACCOUNT_TABLE_FINDINGS,
  ...['token', 'session', 'operator_token'].map((table) => ({
    table,
    problem: 'has no SHA-256',
    text: `select id as place from "${table}" where length(hash) <> 32`,
  })),
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
  { table: 'token_lease', problem: 'holds no unit', text: 'select account as place from token_lease where units <= 0' },
  {
    table: 'expired_lease',
    problem: 'holds no unit',
    text: 'select account as place from expired_lease where units <= 0',
  },
  {
    table: 'token_lease',
    problem: 'belongs to an unknown process and would never end',
    text: `select account as place from token_lease t where not exists (select 1 from lease_holder h where h.holder = t.holder)`,
  },
  {
    table: 'secret',
    problem: 'is active at the same time as another one',
    text: `select number as place from secret where replaced_at is null and (select count(*) from secret where replaced_at is null) > 1`,
  },
]

/** Statements by name. `place` is the key of the row, or the account that it belongs to. */
export const LEDGER_FINDING_QUERIES = ALL_LEDGER_FINDINGS.map((finding, number) => ({
  ...finding,
  name: `check.ledger-${number}`,
  text: `${finding.text} order by 1 limit ${MAX_LEDGER_FINDINGS}`,
}))

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
  ]
    .map((table) => `(select count(*) from "${table}")`)
    .join(' + ')} as rows`,
}

/** The faults of one statement's rows. */
export function ledgerFaults({ table, problem }: LedgerFinding, rows: readonly { place: number }[]): CheckFault[] {
  const faults: CheckFault[] = []
  for (const { place } of rows) problemReporter(faults, table, String(place))(problem)
  return faults
}
