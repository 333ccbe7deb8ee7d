/** The jobs on SQLite: a write transaction at a time, so that two never get the same duty. */

import type { DatabaseSync } from 'node:sqlite'
import type { Instant } from '../../../values/time.ts'
import {
  PROCESS_DIED_MESSAGE,
  type LockName,
  type RunResult,
  LOCK_SECONDS,
  type LockHold,
  type LockHolder,
  type Job,
  type Jobs,
  RUN_RETENTION_SECONDS,
  type JobRun,
} from '../../port/jobs.ts'
import { writeTransaction } from '../database/connection.ts'
import type { WriteAheadLog } from '../database/write-ahead-log.ts'

/** Whoever has it was heard of in time; one that ends later than any was made before the clock was set back. */
const LOCK_HELD_CONDITION = 'holder is not null and until > ?1 and until <= ?1 + ?2'
const HOLD_VALID_CONDITION = 'duty = ? and fence = ? and holder is not null'

export function sqliteJobs(database: DatabaseSync, log: WriteAheadLog, now: () => Instant): Jobs {
  const { take, renew, release, holders } = lockStatements(database)
  const { begin, end, runs } = runStatements(database)
  const write = <Result>(work: (now: Instant) => Result): Promise<Result> =>
    log.whenBounded(() => writeTransaction(database, () => work(now())))
  return {
    acquireLock: (name, holder) => write((now) => take(now, name, holder)),
    renewLock: (hold) => write((now) => renew(now, hold)),
    releaseLock: (hold) => write(() => release(hold)),
    lockHolders: async () => holders(now()),
    startRun: (hold, job, date) => write((now) => begin(now, hold, job, date)),
    endRun: (run, ending) => write((now) => end(now, run, ending)),
    runs: async (since) => runs(since),
  }
}

function lockStatements(database: DatabaseSync) {
  const take = database.prepare(
    `update duty set holder = ?3, fence = fence + 1, until = ?1 + ?2 where duty = ?4 and not (${LOCK_HELD_CONDITION}) returning duty, fence`,
  )
  const bury = database.prepare(
    `update run set ended = ?1, error = ?3 where ended is null
       and (duty = ?4 or duty not in (select duty from duty where ${LOCK_HELD_CONDITION}))`,
  )
  const prolong = database.prepare(`update duty set until = ? where ${HOLD_VALID_CONDITION}`)
  const release = database.prepare(`update duty set holder = null, until = null where ${HOLD_VALID_CONDITION}`)
  const all = database.prepare(`select duty, fence, holder, until from duty where ${LOCK_HELD_CONDITION} order by duty`)
  return {
    take(now: Instant, name: LockName, holder: string): LockHold | null {
      const taken = take.get(now, LOCK_SECONDS, holder, name) as LockHold | undefined
      if (taken === undefined) return null
      bury.run(now, LOCK_SECONDS, PROCESS_DIED_MESSAGE, name)
      return { ...taken }
    },
    renew: (now: Instant, { name, fence }: LockHold): boolean => prolong.run(now + LOCK_SECONDS, name, fence).changes === 1,
    release: ({ name, fence }: LockHold): void => void release.run(name, fence),
    holders: (now: Instant): LockHolder[] => (all.all(now, LOCK_SECONDS) as LockHolder[]).map((row) => ({ ...row })),
  }
}

function runStatements(database: DatabaseSync) {
  const insert = database.prepare(
    `insert into run (duty, job, date, holder, began)
     select duty, ?, ?, holder, ? from duty where ${HOLD_VALID_CONDITION} returning number`,
  )
  const drop = database.prepare('delete from run where began < ?')
  const end = database.prepare('update run set ended = ?, rows = ?, error = ? where number = ? and ended is null')
  const since = database.prepare(
    'select number, job, date, holder, began, ended, rows, error from run where began >= ? order by number',
  )
  return {
    begin(now: Instant, { name, fence }: LockHold, job: Job, date: JobRun['date']): number | null {
      drop.run(now - RUN_RETENTION_SECONDS)
      return (insert.get(job, date, now, name, fence) as { number: number } | undefined)?.number ?? null
    },
    end: (now: Instant, number: number, { rows, error }: RunResult): boolean =>
      end.run(now, rows, error, number).changes === 1,
    runs: (from: Instant): JobRun[] => (since.all(from) as JobRun[]).map((row) => ({ ...row })),
  }
}
