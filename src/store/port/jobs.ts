/** The jobs' part of the port: which process has which work of the night in its hands, and what came of every run. */

import type { Day, Instant } from '../../values/time.ts'

/** Seconds for which a hold stands unless it is renewed. */
export const LOCK_SECONDS = 60
/** Seconds for which runs are kept. */
export const RUN_RETENTION_SECONDS = 400 * 86_400

/**
 * What one process alone does at a time: `scheduler` starts the other jobs when their time comes,
 * `index` maintains the index of similar texts.
 */
export const LOCK_NAMES = ['scheduler', 'inbox', 'daily', 'followup', 'snapshot', 'index'] as const
export type LockName = (typeof LOCK_NAMES)[number]

/** Every new hold of a duty has a higher fence. */
export type LockHold = { name: LockName; fence: number }

/** Who has a duty now, and until when it does so unless the hold is renewed. */
export type LockHolder = LockHold & { holder: string; expiresAt: Instant }

/** `request-…`: the names of a day were wanted from the crawler, for the follow-up file that is written when they were visited. */
export const JOBS = ['inbox', 'daily', 'request-7', 'request-30', 'followup-7', 'followup-30', 'snapshot'] as const
export type Job = (typeof JOBS)[number]

/** One run of a job. `date`: the day that it was for; `ended`: null while it runs; `error`: null where it went well. */
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

/** What a run came to. */
export type RunResult = { rows: number | null; error: string | null }

/**
 * For who builds files. All times are those of the store's clock. A hold that has run out stands as long as nobody else has
 * taken the duty, and may be renewed.
 */
export interface Jobs {
  /**
   * Takes a duty that nobody has (any more); null where somebody has it. What was left running of it, and of the duties that
   * nobody has, has ended then, in error.
   */
  acquireLock(name: LockName, holder: string): Promise<LockHold | null>
  /** Prolongs a hold; false where it no longer stands. Once every 20 seconds will do. */
  renewLock(hold: LockHold): Promise<boolean>
  /** Gives a duty back. A hold that no longer stands changes nothing. */
  releaseLock(hold: LockHold): Promise<void>
  /** The duties that somebody has, by name. */
  lockHolders(): Promise<LockHolder[]>
  /** Notes that a run begins, and drops old ones; its number, or null where the hold no longer stands. */
  startRun(hold: LockHold, job: Job, date: Day | null): Promise<number | null>
  /** Notes what a run came to; false where it counts as ended already, since the hold was lost. */
  endRun(run: number, ending: RunResult): Promise<boolean>
  /** The runs that began at or after `since`, the oldest first. */
  runs(since: Instant): Promise<JobRun[]>
}

/** What is said of a run whose process ended first. */
export const PROCESS_DIED_MESSAGE = 'its process ended before it did'
