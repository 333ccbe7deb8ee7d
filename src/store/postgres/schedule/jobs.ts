/** Named locks, runs and certificate logs on PostgreSQL: a row lock determines the holder. */

import type { Instant } from '../../../values/time.ts'
import { type CertificateLogs, LOG_LEASE_SECONDS, type StoredLog } from '../../port/certificate-logs.ts'
import {
  type JobRun,
  type Jobs,
  LOCK_SECONDS,
  type LockHold,
  type LockHolder,
  PROCESS_DIED_MESSAGE,
  RUN_RETENTION_SECONDS,
} from '../../port/jobs.ts'
import { clockTableSql } from '../database/clock.ts'
import type { Database } from '../database/database.ts'

/** `$1` the time, null for the server's. */
const LOG_CLOCK = clockTableSql('$1')

/**
 * `$2` LOG_LEASE_SECONDS. The lease has not expired. An expiry beyond the longest possible one was written before the
 * clock was set back.
 */
const LOG_IS_HELD = 'l.holder is not null and l.expires_at > now and l.expires_at <= now + $2::bigint'
const LEASE_IS_VALID = 'l.holder is not null and l.id = $3 and l.fence = $4::bigint'

const ADD_LOG = {
  name: 'certificate-log.add',
  text: 'insert into certificate_log (id, url) values ($1, $2) on conflict (id) do update set url = excluded.url',
}
const LEASE_LOG = {
  name: 'certificate-log.lease',
  text: `with ${LOG_CLOCK} update certificate_log l set holder = $4, fence = l.fence + 1, expires_at = now + $2::bigint from clock
    where l.id = $3 and l.problem is null and not coalesce(${LOG_IS_HELD}, false) returning l.fence, l.state`,
}
const SAVE_LOG = {
  name: 'certificate-log.save',
  text: `with ${LOG_CLOCK} update certificate_log l set state = $5, saved_at = now, expires_at = now + $2::bigint from clock
    where ${LEASE_IS_VALID} returning l.id`,
}
const RENEW_LOG = {
  name: 'certificate-log.renew',
  text: `with ${LOG_CLOCK} update certificate_log l set expires_at = now + $2::bigint from clock where ${LEASE_IS_VALID} returning l.id`,
}
const RELEASE_LOG = {
  name: 'certificate-log.release',
  text: `update certificate_log set holder = null, expires_at = null, problem = $3
    where id = $1 and fence = $2::bigint and holder is not null`,
}
const READMIT_LOG = {
  name: 'certificate-log.readmit',
  text: 'update certificate_log set problem = null, state = null where id = $1 and problem is not null returning id',
}
const LIST_LOGS = {
  name: 'certificate-log.list',
  text: `with ${LOG_CLOCK} select l.id, l.url, l.state, l.saved_at as "savedAt", l.problem,
      case when ${LOG_IS_HELD} then l.holder end as holder
    from certificate_log l, clock order by l.url, l.id`,
}

/** `$1` the time, null for the server's. */
const LOCK_CLOCK = clockTableSql('$1')
/**
 * `$2` LOCK_SECONDS. The lock has not expired. An expiry beyond the longest possible one was written before the clock
 * was set back.
 */
const LOCK_IS_HELD = 'l.holder is not null and l.expires_at > now and l.expires_at <= now + $2::bigint'
const HOLD_IS_VALID = 'l.holder is not null and l.name = $2 and l.fence = $3::bigint'

const TAKE_LOCK = {
  name: 'lock.take',
  text: `with ${LOCK_CLOCK} update named_lock l set holder = $4, fence = l.fence + 1, expires_at = now + $2::bigint from clock
    where l.name = $3 and not coalesce(${LOCK_IS_HELD}, false) returning l.name, l.fence`,
}
const END_DEAD_RUNS = {
  name: 'lock.end-dead-runs',
  text: `with ${LOCK_CLOCK}, held as (select l.name from named_lock l, clock where ${LOCK_IS_HELD})
    update job_run r set ended_at = now, error = $3 from clock
    where r.ended_at is null and (r.lock_name = $4 or not exists (select 1 from held where held.name = r.lock_name))`,
}
const RENEW_LOCK = {
  name: 'lock.renew',
  text: `with ${LOCK_CLOCK} update named_lock l set expires_at = now + $4::bigint from clock where ${HOLD_IS_VALID} returning l.name`,
}
const RELEASE_LOCK = {
  name: 'lock.release',
  text: 'update named_lock set holder = null, expires_at = null where name = $1 and fence = $2 and holder is not null',
}
const READ_LOCK_HOLDERS = {
  name: 'lock.holders',
  text: `with ${LOCK_CLOCK} select l.name, l.fence, l.holder, l.expires_at as "expiresAt" from named_lock l, clock
    where ${LOCK_IS_HELD} order by l.name`,
}
/** Locks the row of the named lock, so that no process acquires it while a run starts. */
const START_RUN = {
  name: 'job-run.start',
  text: `with ${LOCK_CLOCK}, held as (select l.name, l.holder from named_lock l where ${HOLD_IS_VALID} for share of l)
    insert into job_run (lock_name, job, date, holder, started_at) select name, $4, $5, holder, now from held, clock
    returning number`,
}
const DELETE_OLD_RUNS = {
  name: 'job-run.delete-old',
  text: `with ${LOCK_CLOCK} delete from job_run using clock where started_at < now - $2::bigint`,
}
const END_RUN = {
  name: 'job-run.end',
  text: `with ${LOCK_CLOCK} update job_run set ended_at = now, rows = $3, error = $4 from clock
    where number = $2 and ended_at is null returning number`,
}
const READ_RUNS = {
  name: 'job-run.since',
  text: `select number, job, date, holder, started_at as "startedAt", ended_at as "endedAt", rows, error from job_run
    where started_at >= $1 order by number`,
}

/** `now`: defaults to the server's clock. */
export function postgresJobs({ read, transaction }: Database, now?: () => Instant): Jobs {
  const time = (): number | null => now?.() ?? null
  return {
    acquireLock: (name, holder) =>
      transaction(async ({ rows, run }) => {
        const [acquired] = await rows<LockHold>(TAKE_LOCK, [time(), LOCK_SECONDS, name, holder])
        if (acquired === undefined) return null
        await run(END_DEAD_RUNS, [time(), LOCK_SECONDS, PROCESS_DIED_MESSAGE, name])
        return acquired
      }),
    renewLock: ({ name, fence }) =>
      transaction(async ({ rows }) => (await rows(RENEW_LOCK, [time(), name, fence, LOCK_SECONDS])).length === 1),
    releaseLock: ({ name, fence }) => transaction(async ({ run }) => void (await run(RELEASE_LOCK, [name, fence]))),
    lockHolders: () => read<LockHolder>(READ_LOCK_HOLDERS, [time(), LOCK_SECONDS]),
    startRun: ({ name, fence }, job, date) =>
      transaction(async ({ rows, run }) => {
        await run(DELETE_OLD_RUNS, [time(), RUN_RETENTION_SECONDS])
        const [startedRun] = await rows<{ number: number }>(START_RUN, [time(), name, fence, job, date])
        return startedRun?.number ?? null
      }),
    endRun: (number, { rows: count, error }) =>
      transaction(async ({ rows }) => (await rows(END_RUN, [time(), number, count, error])).length === 1),
    runs: (since) => read<JobRun>(READ_RUNS, [since]),
  }
}

/** `now`: defaults to the server's clock. */
export function postgresCertificateLogs({ read, transaction }: Database, now?: () => Instant): CertificateLogs {
  const time = (): number | null => now?.() ?? null
  return {
    lease: ({ id, url }, holder) =>
      transaction(async ({ rows, run }) => {
        await run(ADD_LOG, [id, url])
        const values = [time(), LOG_LEASE_SECONDS, id, holder]
        const [row] = await rows<{ fence: number; state: string | null }>(LEASE_LOG, values)
        return row === undefined ? null : { lease: { id, fence: row.fence }, state: row.state }
      }),
    save: ({ id, fence }, state) =>
      transaction(
        async ({ rows }) => (await rows(SAVE_LOG, [time(), LOG_LEASE_SECONDS, id, fence, state])).length === 1,
      ),
    renew: ({ id, fence }) =>
      transaction(async ({ rows }) => (await rows(RENEW_LOG, [time(), LOG_LEASE_SECONDS, id, fence])).length === 1),
    release: ({ id, fence }, problem) =>
      transaction(async ({ run }) => void (await run(RELEASE_LOG, [id, fence, problem]))),
    readmit: (id) => transaction(async ({ rows }) => (await rows(READMIT_LOG, [id])).length === 1),
    list: () => read<StoredLog>(LIST_LOGS, [time(), LOG_LEASE_SECONDS]),
  }
}
