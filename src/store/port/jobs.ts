/** The jobs' part of the port: named locks and the runs of jobs. */

import { type Day, type Instant, SECONDS_PER_DAY } from '../../values/time.ts'

/** Seconds until a lock expires unless it is renewed. */
export const LOCK_SECONDS = 60
/** Seconds for which runs are stored. */
export const RUN_RETENTION_SECONDS = 400 * SECONDS_PER_DAY

/**
 * Locks, each held by at most one process. `scheduler` starts the other jobs; `index` maintains the index of /similar,
 * and `inverse` the inverse index.
 */
export const LOCK_NAMES = ['scheduler', 'inbox', 'daily', 'followup', 'snapshot', 'index', 'inverse', 'prune'] as const
export type LockName = (typeof LOCK_NAMES)[number]

/** A held lock. Each acquisition of a lock has a higher fencing token. */
export type LockHold = { name: LockName; fence: number }

/** The current holder of a lock. The lock expires at `expiresAt` unless it is renewed. */
export type LockHolder = LockHold & { holder: string; expiresAt: Instant }

/**
 * `request-…`: requests the names of a day from the crawler, for the follow-up file that is built after their probes.
 * `prune`: removes what is older than the settings keep it.
 */
export const JOBS = [
  'inbox',
  'daily',
  'request-7',
  'request-30',
  'followup-7',
  'followup-30',
  'snapshot',
  'prune',
] as const
export type Job = (typeof JOBS)[number]

/** One run of a job. `date`: the day of its file. `endedAt`: null while it runs. `error`: null if it succeeded. */
export type JobRun = {
  number: number
  job: Job
  date: Day | null
  holder: string
  startedAt: Instant
  endedAt: Instant | null
  rows: number | null
  error: string | null
}

/** The result of a run. */
export type RunResult = { rows: number | null; error: string | null }

/**
 * For processes that build files. All times are those of the store's clock. An expired lock stays valid, and may be
 * renewed, until another process acquires it.
 */
export interface Jobs {
  /**
   * Acquires a lock that is free or expired. Returns null if another process holds it. Unfinished runs of this lock and
   * of all free locks are then recorded as failed.
   */
  acquireLock(name: LockName, holder: string): Promise<LockHold | null>
  /** Renews a lock. Returns false if it is lost. One renewal every 20 seconds is enough. */
  renewLock(hold: LockHold): Promise<boolean>
  /** Releases a lock. Does nothing if the lock is lost. */
  releaseLock(hold: LockHold): Promise<void>
  /** The held locks, by name. */
  lockHolders(): Promise<LockHolder[]>
  /** Records the start of a run and deletes old runs. Returns its number, or null if the lock is lost. */
  startRun(hold: LockHold, job: Job, date: Day | null): Promise<number | null>
  /** Records the result of a run. Returns false if the run was recorded as failed already because the lock was lost. */
  endRun(run: number, result: RunResult): Promise<boolean>
  /** The runs that started at or after `since`, oldest first. */
  runs(since: Instant): Promise<JobRun[]>
}

/** The error of a run whose process ended before it. */
export const PROCESS_DIED_MESSAGE = 'its process ended before the run'
