/** The audit log: who changed which account, token or secret. */

import type { Actor, AuditAction, AuditDetails, AuditEntry, AuditFilter } from '../../accounts/audit.ts'
import type { Instant } from '../../values/time.ts'
import { type Dialect, type LedgerRead, ledgerStatements, run, type Transaction } from './session.ts'

/** `$2` email address, `$3` and `$4` the time from and to, `$5` the limit, `$6` the action; null: any. */
const filtered = (dialect: Dialect, position: string, order: 'asc' | 'desc'): string =>
  `select id, time, actor, origin, action, account, email, details from audit
   where ${position} and (cast($2 as text) is null or ${dialect.emailKey} = ${dialect.emailKeyOf('cast($2 as text)')})
     and (cast($6 as text) is null or action = cast($6 as text))
     and time >= coalesce(cast($3 as bigint), time) and time < coalesce(cast($4 as bigint), time + 1)
   order by id ${order} limit $5`

export const AUDIT = ledgerStatements('audit', {
  after: (dialect) => filtered(dialect, 'id > $1', 'asc'),
  before: (dialect) => filtered(dialect, 'id < coalesce(cast($1 as bigint), 9000000000000000)', 'desc'),
  addOfAccount: `insert into audit (time, actor, origin, action, account, email, details)
    select cast($1 as bigint), $2, $3, $4, a.id, a.email, $6 from account a where a.id = $5`,
  addOfInstallation: 'insert into audit (time, actor, origin, action, details) values ($1, $2, $3, $4, $5)',
})

export function auditReads(read: LedgerRead) {
  const entries =
    (statement: (typeof AUDIT)['after']) =>
    async (
      { email, action = null, from, to }: AuditFilter,
      position: number | null,
      limit: number,
    ): Promise<AuditEntry[]> => {
      const found = await read<Omit<AuditEntry, 'details'> & { details: string }>(statement, [
        ...[position, email, from, to, limit, action],
      ])
      return found.map((entry) => ({ ...entry, details: JSON.parse(entry.details) }))
    }
  return { audit: entries(AUDIT.after), recentAudit: entries(AUDIT.before) }
}

/** Writes an entry for an existing account. */
export function* auditAccount(
  now: Instant,
  { user, origin }: Actor,
  action: AuditAction,
  account: number,
  details: AuditDetails,
): Transaction<void> {
  yield* run(AUDIT.addOfAccount, [now, user, origin, action, account, JSON.stringify(details)])
}

/** Writes an entry for the installation. */
export function* auditInstallation(
  now: Instant,
  { user, origin }: Actor,
  action: AuditAction,
  details: AuditDetails,
): Transaction<void> {
  yield* run(AUDIT.addOfInstallation, [now, user, origin, action, JSON.stringify(details)])
}
