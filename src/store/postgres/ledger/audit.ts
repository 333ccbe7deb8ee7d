/** The audit log on PostgreSQL. */

import type { Actor, AuditAction, AuditDetails, AuditEntry, AuditFilter } from '../../../accounts/audit.ts'
import type { Instant } from '../../../values/time.ts'
import type { Database } from '../database/database.ts'
import type { Session } from '../database/transaction.ts'

type AuditRow = Omit<AuditEntry, 'details'> & { details: string }

const READ_AUDIT = {
  name: 'audit.read',
  text: `select id, time, actor, origin, action, account, email, details from audit
    where id > $1 and ($2::text is null or lower(email) = lower($2::text collate "C"))
      and ($6::text is null or action = $6::text)
      and time >= coalesce($3::bigint, time) and time < coalesce($4::bigint, time + 1)
    order by id limit $5`,
}
const READ_RECENT_AUDIT = {
  name: 'audit.recent',
  text: `select id, time, actor, origin, action, account, email, details from audit
    where id < coalesce($1::bigint, 9e15::bigint) and ($2::text is null or lower(email) = lower($2::text collate "C"))
      and ($6::text is null or action = $6::text)
      and time >= coalesce($3::bigint, time) and time < coalesce($4::bigint, time + 1)
    order by id desc limit $5`,
}
const AUDIT_TIME = 'coalesce($1::bigint, floor(extract(epoch from clock_timestamp()))::bigint)'
const INSERT_ACCOUNT_AUDIT = {
  name: 'audit.account',
  text: `insert into audit (time, actor, origin, action, account, email, details)
    select ${AUDIT_TIME}, $2, $3, $4, a.id, a.email, $6 from account a where a.id = $5`,
}
const INSERT_INSTALLATION_AUDIT = {
  name: 'audit.installation',
  text: `insert into audit (time, actor, origin, action, details) values (${AUDIT_TIME}, $2, $3, $4, $5)`,
}

/** Writes an entry for an existing account, in the transaction of its change. Without `now`, at the server's time. */
export type WriteAuditEntry = (
  session: Session,
  action: AuditAction,
  account: number,
  details: AuditDetails,
) => Promise<void>

export function auditWriterOf({ user, origin }: Actor, now: Instant | null): WriteAuditEntry {
  return async ({ run }, action, account, details) =>
    void (await run(INSERT_ACCOUNT_AUDIT, [now, user, origin, action, account, JSON.stringify(details)]))
}

/** Writes an entry for the installation. */
export async function writeInstallationAudit(
  { run }: Session,
  { user, origin }: Actor,
  now: Instant | null,
  action: AuditAction,
  details: AuditDetails,
): Promise<void> {
  await run(INSERT_INSTALLATION_AUDIT, [now, user, origin, action, JSON.stringify(details)])
}

const entryOfRow = (row: AuditRow): AuditEntry => ({ ...row, details: JSON.parse(row.details) })

export function postgresAudit({ read }: Pick<Database, 'read'>) {
  return {
    audit: async (
      { email, action = null, from, to }: AuditFilter,
      after: number,
      limit: number,
    ): Promise<AuditEntry[]> =>
      (await read<AuditRow>(READ_AUDIT, [after, email, from, to, limit, action])).map(entryOfRow),
    recentAudit: async (
      { email, action = null, from, to }: AuditFilter,
      before: number | null,
      limit: number,
    ): Promise<AuditEntry[]> =>
      (await read<AuditRow>(READ_RECENT_AUDIT, [before, email, from, to, limit, action])).map(entryOfRow),
  }
}
