/** Runs a step of the job plan manually: takes its lock, records the run, and stops on a signal. */

import { CommandFault } from '../../config/command-fault.ts'
import { BuildFault } from '../../jobs/file-store/build-fault.ts'
import { type JobLock, withJobLock } from '../../jobs/job-lock.ts'
import type { JobStep } from '../../jobs/job-plan.ts'
import { LOCK_OF_JOB, type StepOutcome } from '../../jobs/job-scheduler.ts'
import { SYSTEM_CLOCK } from '../../server/system-clock.ts'
import { processHolderName } from '../../store/named-lock.ts'
import type { Store } from '../../store/port/store.ts'
import { listenForStop } from '../program/stop-signal.ts'

/**
 * Returns null if a signal stopped the step. Throws CommandFault if another process runs it, or if it cannot be done.
 */
export async function runStepManually<Result extends StepOutcome>(
  { jobs }: Pick<Store, 'jobs'>,
  step: JobStep,
  work: (lock: JobLock) => Promise<Result>,
): Promise<Result | null> {
  const stop = listenForStop()
  const lockName = LOCK_OF_JOB[step.job]
  try {
    const owner = { jobs, holder: processHolderName(), clock: SYSTEM_CLOCK }
    const done = await withJobLock(lockName, owner, stop.signal, (lock) => lock.record(step, () => work(lock)))
    if (done !== null) return done.result
    const holder = (await jobs.lockHolders()).find((each) => each.name === lockName)?.holder ?? 'another process'
    throw new CommandFault(`${holder} is building this now: wait until it has finished (domaindex jobs)`)
  } catch (error) {
    if (error instanceof BuildFault) throw new CommandFault(error.message)
    if (!stop.signal.aborted) throw error
    console.error('stopped; the previous files are unchanged')
    process.exitCode = 1
    return null
  } finally {
    stop.end()
  }
}
