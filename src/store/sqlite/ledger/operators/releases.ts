/** The requests to release held files, on SQLite. */

import type { DatabaseSync } from 'node:sqlite'
import type { Actor } from '../../../../accounts/audit.ts'
import type { Day, Instant } from '../../../../values/time.ts'
import { auditWrites } from '../audit.ts'

export function releaseReads(database: DatabaseSync) {
  const read = database.prepare('select day from release_request order by day')
  return { releaseRequests: async () => (read.all() as { day: Day }[]).map(({ day }) => day) }
}

export function releaseWrites(database: DatabaseSync) {
  const insert = database.prepare('insert into release_request (day, requested) values (?, ?) on conflict do nothing')
  const remove = database.prepare('delete from release_request where day = ?')
  const { ofInstallation } = auditWrites(database)
  return {
    requestRelease(now: Instant, actor: Actor, day: Day): boolean {
      if (insert.run(day, now).changes === 0) return false
      ofInstallation(now, actor, 'daily.release', { day })
      return true
    },
    completeRelease(_now: Instant, day: Day): void {
      remove.run(day)
    },
  }
}
