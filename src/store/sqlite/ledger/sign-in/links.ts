/** Links that are valid once, on SQLite. */

import type { DatabaseSync } from 'node:sqlite'
import type { LinkKind, NewOneTimeLink, OneTimeLink } from '../../../../accounts/session.ts'
import type { Instant } from '../../../../values/time.ts'
import type { StoredHash } from './stored-hash.ts'

/** Expired links that one write removes. */
const MAX_REMOVED = 100

export function linkWrites(database: DatabaseSync) {
  const insert = database.prepare(
    'insert into one_time_link (hash, kind, account, email, expires) values (unhex(?), ?, ?, ?, ?)',
  )
  const take = database.prepare(
    'delete from one_time_link where hash = unhex(?) and kind = ? returning kind, account, email, expires',
  )
  const removeExpired = database.prepare(
    `delete from one_time_link where hash in (select hash from one_time_link where expires <= ? limit ${MAX_REMOVED})`,
  )
  return {
    createLink(now: Instant, { hash, kind, account, email, expires }: StoredHash<NewOneTimeLink>): void {
      removeExpired.run(now)
      insert.run(hash, kind, account, email, expires)
    },
    takeLink(now: Instant, hash: string, kind: LinkKind): OneTimeLink | null {
      const row = take.get(hash, kind) as (OneTimeLink & { expires: Instant }) | undefined
      if (row === undefined || row.expires <= now) return null
      const { account, email } = row
      return { kind, account, email }
    },
  }
}
