/** A duty of the nights in this process's hands, whose work is noted run by run. */

import { type HeldLock, type WaitClock, withNamedLock } from '../store/named-lock.ts'
import { StoreFault, userMessageOf } from '../store/port/fault.ts'
import type { Jobs, LockName } from '../store/port/jobs.ts'
import { BuildFault } from './file-store/build-fault.ts'
import { type JobStep, STOPPED_MESSAGE } from './job-plan.ts'

/** A duty that this process has, and a book of what it does. */
export type JobLock = Pick<HeldLock, 'signal' | 'requireHeld'> & {
  /** Does a step and notes it: when it began and ended, its rows, or why it failed. Throws what the work throws. */
  record<Result extends { rows: number | null }>(step: JobStep, work: () => Promise<Result>): Promise<Result>
}

/** Takes a duty for the length of `work`. Null where another process has it, and then nothing is done. */
export function withJobLock<Result>(
  lockName: LockName,
  dependencies: { jobs: Jobs; holder: string; clock: WaitClock },
  signal: AbortSignal,
  work: (lock: JobLock) => Promise<Result>,
): Promise<{ result: Result } | null> {
  return withNamedLock(lockName, dependencies, signal, (hand) => work(jobLockOf(dependencies.jobs, hand)))
}

function jobLockOf(jobs: Jobs, { hold, signal, requireHeld: stands, markLost: lose }: HeldLock): JobLock {
  return {
    signal,
    requireHeld: stands,
    async record({ job, date }, work) {
      const run = await jobs.startRun(hold, job, date)
      if (run === null) throw lose()
      try {
        const result = await work()
        await jobs.endRun(run, { rows: result.rows, error: null })
        return result
      } catch (error) {
        const words = signal.aborted ? STOPPED_MESSAGE : errorText(error)
        await jobs.endRun(run, { rows: null, error: words }).catch(() => {}) // the fault itself counts for more
        throw error
      }
    },
  }
}

/** What went wrong in one line, without control characters. */
export function errorText(error: unknown): string {
  const isPlain = error instanceof BuildFault || error instanceof StoreFault
  const words = (isPlain ? null : userMessageOf(error)) ?? (error instanceof Error ? error.message : String(error))
  return words.replace(/\p{Cc}+/gu, ' ').slice(0, 1_000)
}
