/** The usage on SQLite: calls by token, endpoint and day. */

import type { DatabaseSync } from 'node:sqlite'
import type { Day, Instant } from '../../../values/time.ts'
import type { UsageCount, UsageNote } from '../../port/ledger.ts'

export function usageReads(database: DatabaseSync) {
  const read = database.prepare(
    `select day, endpoint, token, calls from usage
     where account = ?1 and day >= coalesce(?2, '') and day <= coalesce(?3, '9999-12-31')
     union all select day, endpoint, token, calls from closed_usage
     where account = ?1 and day >= coalesce(?2, '') and day <= coalesce(?3, '9999-12-31') order by day, endpoint, token`,
  )
  const readClosed = database.prepare('select distinct account from closed_usage order by account')
  return {
    deletedAccounts: (): number[] => readClosed.all().map(({ account }) => account as number),
    usage: (account: number, from: Day | null, to: Day | null): UsageCount[] =>
      (read.all(account, from, to) as UsageCount[]).map((row) => ({ ...row })),
  }
}

export function usageWrites(database: DatabaseSync) {
  const add = database.prepare(
    `insert into usage (account, day, endpoint, token, calls) select id, ?2, ?3, ?4, ?5 from account where id = ?1
     on conflict do update set calls = calls + excluded.calls`,
  )
  const setLastUsed = database.prepare(
    'update token set last_used = ?1 where id = ?2 and account = ?3 and (last_used is null or last_used < ?1)',
  )
  return {
    recordUsage(_now: Instant, notes: readonly UsageNote[]): void {
      for (const { account, token, endpoint, day, calls, lastCall } of notes) {
        add.run(account, day, endpoint, token, calls)
        setLastUsed.run(lastCall, token, account)
      }
    },
  }
}
