/** Counts of attempts by account or client, on PostgreSQL. */

import type { Instant } from '../../../../values/time.ts'
import type { AttemptLimit, SignIns } from '../../../port/sign-in.ts'
import type { Database } from '../../database/database.ts'
import type { Session } from '../../database/transaction.ts'

/** Ended counts that one write removes. */
const MAX_REMOVED = 100

const COUNT_ATTEMPT = {
  name: 'attempt.count',
  text: `insert into attempt as a (key, count, ends) values ($1, 1, $2::bigint + $3::bigint)
    on conflict (key) do update set count = case when a.ends <= $2 then 1 else a.count + 1 end,
      ends = case when a.ends <= $2 then excluded.ends else a.ends end
    returning count`,
}
const REMOVE_ENDED_ATTEMPTS = {
  name: 'attempt.ended',
  text: `delete from attempt where key in
    (select key from attempt where ends <= $1 limit ${MAX_REMOVED} for update skip locked)`,
}
const READ_ATTEMPTS = {
  name: 'attempt.read',
  text: 'select key, count from attempt where key = any($1) and ends > $2',
}
const CLEAR_ATTEMPTS = { name: 'attempt.clear', text: 'delete from attempt where key = any($1)' }

export function attempts({ read, transaction }: Pick<Database, 'read' | 'transaction'>) {
  return {
    async countAttempt(limits, now) {
      const counts = await transaction(({ rows }) => countInOrder(rows, limits, now))
      await transaction(({ run }) => run(REMOVE_ENDED_ATTEMPTS, [now]))
      return limits.map(({ key }) => counts.get(key)!)
    },
    async attempts(keys, now) {
      const rows = await read<{ key: string; count: number }>(READ_ATTEMPTS, [keys, now])
      const counts = new Map(rows.map(({ key, count }) => [key, count]))
      return keys.map((key) => counts.get(key) ?? 0)
    },
    clearAttempts: (keys) => transaction(async ({ run }) => void (await run(CLEAR_ATTEMPTS, [keys]))),
  } satisfies Partial<SignIns>
}

/** Counts in one order of keys, so that processes never wait for each other in a cycle. */
async function countInOrder(
  rows: Session['rows'],
  limits: readonly AttemptLimit[],
  now: Instant,
): Promise<Map<string, number>> {
  const counts = new Map<string, number>()
  for (const { key, seconds } of [...limits].sort((a, b) => (a.key < b.key ? -1 : 1))) {
    const [row] = await rows<{ count: number }>(COUNT_ATTEMPT, [key, now, seconds])
    counts.set(key, row!.count)
  }
  return counts
}
