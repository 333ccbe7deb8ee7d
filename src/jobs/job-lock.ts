/** The named lock of a job, which records each run of the job. */

import { userMessageOf } from '../store/engines.ts'
import { type HeldLock, type LockClock, withNamedLock } from '../store/named-lock.ts'
import { StoreFault } from '../store/port/fault.ts'
import type { Jobs, LockName } from '../store/port/jobs.ts'
import { BuildFault } from './file-store/build-fault.ts'
import { type JobStep, STOPPED_MESSAGE } from './job-plan.ts'

/** A named lock that this process holds. */
export type JobLock = Pick<HeldLock, 'hold' | 'signal' | 'requireHeld'> & {
  /** Runs a step and records its start, its end, and its rows or its error. Throws what the work throws. */
  record<Result extends { rows: number | null }>(step: JobStep, work: () => Promise<Result>): Promise<Result>
}

/** Holds the lock while `work` runs. Returns null, without running it, if another process holds the lock. */
export function withJobLock<Result>(
  lockName: LockName,
  dependencies: { jobs: Jobs; holder: string; clock: LockClock },
  signal: AbortSignal,
  work: (lock: JobLock) => Promise<Result>,
): Promise<{ result: Result } | null> {
  return withNamedLock(lockName, dependencies, signal, (held) => work(jobLockOf(dependencies.jobs, held)))
}

function jobLockOf(jobs: Jobs, { hold, signal, requireHeld, markLost }: HeldLock): JobLock {
  return {
    hold,
    signal,
    requireHeld,
    async record({ job, date }, work) {
      const run = await jobs.startRun(hold, job, date)
      if (run === null) throw markLost()
      try {
        const result = await work()
        await jobs.endRun(run, { rows: result.rows, error: null })
        return result
      } catch (error) {
        const words = signal.aborted ? STOPPED_MESSAGE : errorText(error)
        await jobs.endRun(run, { rows: null, error: words }).catch(() => {}) // the error of the work matters more
        throw error
      }
    },
  }
}

/** Returns the error message in one line, without control characters. */
export function errorText(error: unknown): string {
  const isPlain = error instanceof BuildFault || error instanceof StoreFault
  const words = (isPlain ? null : userMessageOf(error)) ?? (error instanceof Error ? error.message : String(error))
  return words.replace(/\p{Cc}+/gu, ' ').slice(0, 1_000)
}
