/** The audit log on SQLite. */

import type { DatabaseSync } from 'node:sqlite'
import type { Actor, AuditAction, AuditDetails, AuditEntry, AuditFilter } from '../../../accounts/audit.ts'
import type { Instant } from '../../../values/time.ts'

type AuditEntryRow = Omit<AuditEntry, 'details'> & { details: string }

const entryOfRow = (row: AuditEntryRow): AuditEntry => ({ ...row, details: JSON.parse(row.details) })

export function auditReads(database: DatabaseSync) {
  const read = database.prepare(
    `select id, time, actor, origin, action, account, email, details from audit
     where id > ?1 and (?2 is null or email = ?2) and (?6 is null or action = ?6) and time >= coalesce(?3, time)
       and time < coalesce(?4, time + 1)
     order by id limit +?5`,
  )
  const readRecent = database.prepare(
    `select id, time, actor, origin, action, account, email, details from audit
     where id < coalesce(?1, 9e15) and (?2 is null or email = ?2) and (?6 is null or action = ?6)
       and time >= coalesce(?3, time) and time < coalesce(?4, time + 1)
     order by id desc limit +?5`,
  )
  return {
    recentAudit: (
      { email, action = null, from, to }: AuditFilter,
      before: number | null,
      limit: number,
    ): AuditEntry[] => (readRecent.all(before, email, from, to, limit, action) as AuditEntryRow[]).map(entryOfRow),
    audit: ({ email, action = null, from, to }: AuditFilter, after: number, limit: number): AuditEntry[] =>
      (read.all(after, email, from, to, limit, action) as AuditEntryRow[]).map(entryOfRow),
  }
}

/** Writes entries for an existing account (`ofAccount`) and for the installation. */
export function auditWrites(database: DatabaseSync) {
  const account = database.prepare(
    `insert into audit (time, actor, origin, action, account, email, details)
     select ?1, ?2, ?3, ?4, a.id, a.email, ?6 from account a where a.id = ?5`,
  )
  const installation = database.prepare(
    'insert into audit (time, actor, origin, action, details) values (?, ?, ?, ?, ?)',
  )
  return {
    ofAccount(now: Instant, { user, origin }: Actor, action: AuditAction, id: number, details: AuditDetails): void {
      account.run(now, user, origin, action, id, JSON.stringify(details))
    },
    ofInstallation(now: Instant, { user, origin }: Actor, action: AuditAction, details: AuditDetails): void {
      installation.run(now, user, origin, action, JSON.stringify(details))
    },
  }
}
