/** The jobs on SQLite: a write transaction at a time, so that two never get the same duty. */

import type { DatabaseSync } from 'node:sqlite'
import type { Instant } from '../../../values/time.ts'
import {
  type Job,
  type JobRun,
  type Jobs,
  LOCK_SECONDS,
  type LockHold,
  type LockHolder,
  type LockName,
  PROCESS_DIED_MESSAGE,
  RUN_RETENTION_SECONDS,
  type RunResult,
} from '../../port/jobs.ts'
import { writeTransaction } from '../database/connection.ts'
import type { WriteAheadLog } from '../database/write-ahead-log.ts'

/** Whoever has it was heard of in time; one that ends later than any was made before the clock was set back. */
const LOCK_HELD_CONDITION = 'holder is not null and expires_at > ?1 and expires_at <= ?1 + ?2'
const HOLD_VALID_CONDITION = 'name = ? and fence = ? and holder is not null'

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
    `update named_lock set holder = ?3, fence = fence + 1, expires_at = ?1 + ?2 where name = ?4 and not (${LOCK_HELD_CONDITION}) returning name, fence`,
  )
  const bury = database.prepare(
    `update job_run set ended_at = ?1, error = ?3 where ended_at is null
       and (lock_name = ?4 or lock_name not in (select name from named_lock where ${LOCK_HELD_CONDITION}))`,
  )
  const prolong = database.prepare(`update named_lock set expires_at = ? where ${HOLD_VALID_CONDITION}`)
  const release = database.prepare(
    `update named_lock set holder = null, expires_at = null where ${HOLD_VALID_CONDITION}`,
  )
  const all = database.prepare(
    `select name, fence, holder, expires_at as expiresAt from named_lock where ${LOCK_HELD_CONDITION} order by name`,
  )
  return {
    take(now: Instant, name: LockName, holder: string): LockHold | null {
      const taken = take.get(now, LOCK_SECONDS, holder, name) as LockHold | undefined
      if (taken === undefined) return null
      bury.run(now, LOCK_SECONDS, PROCESS_DIED_MESSAGE, name)
      return { ...taken }
    },
    renew: (now: Instant, { name, fence }: LockHold): boolean =>
      prolong.run(now + LOCK_SECONDS, name, fence).changes === 1,
    release: ({ name, fence }: LockHold): void => void release.run(name, fence),
    holders: (now: Instant): LockHolder[] => (all.all(now, LOCK_SECONDS) as LockHolder[]).map((row) => ({ ...row })),
  }
}

function runStatements(database: DatabaseSync) {
  const insert = database.prepare(
    `insert into job_run (lock_name, job, date, holder, started_at)
     select name, ?, ?, holder, ? from named_lock where ${HOLD_VALID_CONDITION} returning number`,
  )
  const drop = database.prepare('delete from job_run where started_at < ?')
  const end = database.prepare(
    'update job_run set ended_at = ?, rows = ?, error = ? where number = ? and ended_at is null',
  )
  const since = database.prepare(
    `select number, job, date, holder, started_at as startedAt, ended_at as endedAt, rows, error
     from job_run where started_at >= ? order by number`,
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
