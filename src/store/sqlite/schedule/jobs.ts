/**
 * Named locks, runs and certificate logs on SQLite. One write transaction at a time, so that nothing has two holders.
 */

import type { DatabaseSync } from 'node:sqlite'
import type { Instant } from '../../../values/time.ts'
import { type CertificateLogs, LOG_LEASE_SECONDS, type LogLease, type StoredLog } from '../../port/certificate-logs.ts'
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

/** The lease has not expired. An expiry beyond the longest possible one was written before the clock was set back. */
const LEASE_HELD_CONDITION = 'holder is not null and expires_at > ?1 and expires_at <= ?1 + ?2'
const LEASE_VALID_CONDITION = 'id = ? and fence = ? and holder is not null'

type LeasedRow = { fence: number; state: string | null }

/** The lock has not expired. An expiry beyond the longest possible one was written before the clock was set back. */
const LOCK_HELD_CONDITION = 'holder is not null and expires_at > ?1 and expires_at <= ?1 + ?2'
const HOLD_VALID_CONDITION = 'name = ? and fence = ? and holder is not null'

export function sqliteJobs(database: DatabaseSync, log: WriteAheadLog, now: () => Instant): Jobs {
  const { acquire, renew, release, holders } = lockStatements(database)
  const { begin, end, runs } = runStatements(database)
  const write = <Result>(work: (now: Instant) => Result): Promise<Result> =>
    log.whenBounded(() => writeTransaction(database, () => work(now())))
  return {
    acquireLock: (name, holder) => write((now) => acquire(now, name, holder)),
    renewLock: (hold) => write((now) => renew(now, hold)),
    releaseLock: (hold) => write(() => release(hold)),
    lockHolders: async () => holders(now()),
    startRun: (hold, job, date) => write((now) => begin(now, hold, job, date)),
    endRun: (run, result) => write((now) => end(now, run, result)),
    runs: async (since) => runs(since),
  }
}

function lockStatements(database: DatabaseSync) {
  const acquire = database.prepare(
    `update named_lock set holder = ?3, fence = fence + 1, expires_at = ?1 + ?2 where name = ?4 and not (${LOCK_HELD_CONDITION}) returning name, fence`,
  )
  const endUnfinishedRuns = database.prepare(
    `update job_run set ended_at = ?1, error = ?3 where ended_at is null
       and (lock_name = ?4 or lock_name not in (select name from named_lock where ${LOCK_HELD_CONDITION}))`,
  )
  const extend = database.prepare(`update named_lock set expires_at = ? where ${HOLD_VALID_CONDITION}`)
  const release = database.prepare(
    `update named_lock set holder = null, expires_at = null where ${HOLD_VALID_CONDITION}`,
  )
  const readHolders = database.prepare(
    `select name, fence, holder, expires_at as expiresAt from named_lock where ${LOCK_HELD_CONDITION} order by name`,
  )
  return {
    acquire(now: Instant, name: LockName, holder: string): LockHold | null {
      const acquired = acquire.get(now, LOCK_SECONDS, holder, name) as LockHold | undefined
      if (acquired === undefined) return null
      endUnfinishedRuns.run(now, LOCK_SECONDS, PROCESS_DIED_MESSAGE, name)
      return { ...acquired }
    },
    renew: (now: Instant, { name, fence }: LockHold): boolean =>
      extend.run(now + LOCK_SECONDS, name, fence).changes === 1,
    release: ({ name, fence }: LockHold): void => void release.run(name, fence),
    holders: (now: Instant): LockHolder[] =>
      (readHolders.all(now, LOCK_SECONDS) as LockHolder[]).map((row) => ({ ...row })),
  }
}

function runStatements(database: DatabaseSync) {
  const insert = database.prepare(
    `insert into job_run (lock_name, job, date, holder, started_at)
     select name, ?, ?, holder, ? from named_lock where ${HOLD_VALID_CONDITION} returning number`,
  )
  const deleteOldRuns = database.prepare('delete from job_run where started_at < ?')
  const end = database.prepare(
    'update job_run set ended_at = ?, rows = ?, error = ? where number = ? and ended_at is null',
  )
  const since = database.prepare(
    `select number, job, date, holder, started_at as startedAt, ended_at as endedAt, rows, error
     from job_run where started_at >= ? order by number`,
  )
  return {
    begin(now: Instant, { name, fence }: LockHold, job: Job, date: JobRun['date']): number | null {
      deleteOldRuns.run(now - RUN_RETENTION_SECONDS)
      return (insert.get(job, date, now, name, fence) as { number: number } | undefined)?.number ?? null
    },
    end: (now: Instant, number: number, { rows, error }: RunResult): boolean =>
      end.run(now, rows, error, number).changes === 1,
    runs: (from: Instant): JobRun[] => (since.all(from) as JobRun[]).map((row) => ({ ...row })),
  }
}

/** Certificate logs on SQLite. One write transaction at a time, so that no log has two holders. */
export function sqliteCertificateLogs(database: DatabaseSync, log: WriteAheadLog, now: () => Instant): CertificateLogs {
  const add = database.prepare(
    'insert into certificate_log (id, url) values (?, ?) on conflict (id) do update set url = excluded.url',
  )
  const lease = database.prepare(
    `update certificate_log set holder = ?3, fence = fence + 1, expires_at = ?1 + ?2
     where id = ?4 and problem is null and not (${LEASE_HELD_CONDITION}) returning fence, state`,
  )
  const save = database.prepare(
    `update certificate_log set state = ?, saved_at = ?, expires_at = ? where ${LEASE_VALID_CONDITION}`,
  )
  const renew = database.prepare(`update certificate_log set expires_at = ? where ${LEASE_VALID_CONDITION}`)
  const release = database.prepare(
    `update certificate_log set holder = null, expires_at = null, problem = ? where ${LEASE_VALID_CONDITION}`,
  )
  const readmit = database.prepare(
    'update certificate_log set problem = null, state = null where id = ? and problem is not null',
  )
  const list = database.prepare(
    `select id, url, state, saved_at as savedAt, problem, iif(${LEASE_HELD_CONDITION}, holder, null) as holder
     from certificate_log order by url, id`,
  )
  const write = <Result>(work: (now: Instant) => Result): Promise<Result> =>
    log.whenBounded(() => writeTransaction(database, () => work(now())))
  const isHeld = (changes: number | bigint): boolean => Number(changes) === 1
  return {
    lease: ({ id, url }, holder) =>
      write((at) => {
        add.run(id, url)
        const row = lease.get(at, LOG_LEASE_SECONDS, holder, id) as LeasedRow | undefined
        return row === undefined ? null : { lease: { id, fence: row.fence }, state: row.state }
      }),
    save: ({ id, fence }: LogLease, state) =>
      write((at) => isHeld(save.run(state, at, at + LOG_LEASE_SECONDS, id, fence).changes)),
    renew: ({ id, fence }) => write((at) => isHeld(renew.run(at + LOG_LEASE_SECONDS, id, fence).changes)),
    release: ({ id, fence }, problem) => write(() => void release.run(problem, id, fence)),
    readmit: (id) => write(() => isHeld(readmit.run(id).changes)),
    list: async () => (list.all(now(), LOG_LEASE_SECONDS) as StoredLog[]).map((row) => ({ ...row })),
  }
}
