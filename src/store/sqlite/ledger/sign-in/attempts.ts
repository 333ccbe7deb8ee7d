/** Counts of attempts by account or client, on SQLite. */

import type { DatabaseSync } from 'node:sqlite'
import type { Instant } from '../../../../values/time.ts'
import type { AttemptLimit, SignIns } from '../../../port/sign-in.ts'

/** Ended counts that one write removes. */
const MAX_REMOVED = 100

export function attemptReads(database: DatabaseSync) {
  const attempt = database.prepare('select count from attempt where key = ? and ends > ?')
  return {
    attempts: async (keys, now) => keys.map((key) => (attempt.get(key, now)?.count ?? 0) as number),
  } satisfies Partial<SignIns>
}

export function attemptWrites(database: DatabaseSync) {
  const add = database.prepare(
    `insert into attempt (key, count, ends) values (?1, 1, ?2 + ?3) on conflict do update set
       count = case when ends <= ?2 then 1 else count + 1 end, ends = case when ends <= ?2 then ?2 + ?3 else ends end
     returning count`,
  )
  const removeEnded = database.prepare(
    `delete from attempt where key in (select key from attempt where ends <= ? limit ${MAX_REMOVED})`,
  )
  const remove = database.prepare('delete from attempt where key = ?')
  return {
    countAttempt(now: Instant, limits: readonly AttemptLimit[]): number[] {
      removeEnded.run(now)
      return limits.map(({ key, seconds }) => add.get(key, now, seconds)!.count as number)
    },
    clearAttempts(_now: Instant, keys: readonly string[]): void {
      for (const key of keys) remove.run(key)
    },
  }
}
