/** The audit log on PostgreSQL. */

import type { Actor, AuditAction, AuditDetails, AuditEntry, AuditFilter } from '../../../accounts/audit.ts'
import type { Instant } from '../../../words/time.ts'
import type { Database } from '../database.ts'
import type { Session } from '../writer.ts'

type Row = Omit<AuditEntry, 'details'> & { details: string }

const READ = {
  name: 'audit.read',
  text: `select id, time, actor, origin, action, account, email, details from audit
    where id > $1 and ($2::text is null or lower(email) = lower($2::text collate "C"))
      and time >= coalesce($3::bigint, time) and time < coalesce($4::bigint, time + 1)
    order by id limit $5`,
}
const TIME = 'coalesce($1::bigint, floor(extract(epoch from clock_timestamp()))::bigint)'
const OF_ACCOUNT = {
  name: 'audit.account',
  text: `insert into audit (time, actor, origin, action, account, email, details)
    select ${TIME}, $2, $3, $4, a.id, a.email, $6 from account a where a.id = $5`,
}
const OF_INSTALLATION = {
  name: 'audit.installation',
  text: `insert into audit (time, actor, origin, action, details) values (${TIME}, $2, $3, $4, $5)`,
}

/** Writes an entry of an account that is there, in the transaction of its change; without `now` at the server's time. */
export type Log = (session: Session, action: AuditAction, account: number, details: AuditDetails) => Promise<void>

export function logBy({ user, origin }: Actor, now: Instant | null): Log {
  return async ({ run }, action, account, details) =>
    void (await run(OF_ACCOUNT, [now, user, origin, action, account, JSON.stringify(details)]))
}

/** Writes an entry of the installation. */
export async function logInstallation(
  { run }: Session,
  { user, origin }: Actor,
  now: Instant | null,
  action: AuditAction,
  details: AuditDetails,
): Promise<void> {
  await run(OF_INSTALLATION, [now, user, origin, action, JSON.stringify(details)])
}

export function auditOf({ read }: Pick<Database, 'read'>) {
  return {
    audit: async ({ email, from, to }: AuditFilter, after: number, limit: number): Promise<AuditEntry[]> =>
      (await read<Row>(READ, [after, email, from, to, limit])).map((row) => ({
        ...row,
        details: JSON.parse(row.details),
      })),
  }
}
