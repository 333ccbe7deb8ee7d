/** A step of the nights by hand: its duty is taken, its run noted, its progress shown, and it can be stopped. */

import { CommandFault } from '../../config/command-fault.ts'
import { BuildFault } from '../../jobs/file-store/build-fault.ts'
import { type JobLock, withJobLock } from '../../jobs/job-lock.ts'
import type { JobStep } from '../../jobs/job-plan.ts'
import { LOCK_OF_JOB, type StepOutcome } from '../../jobs/job-scheduler.ts'
import { SYSTEM_CLOCK } from '../../server/system-clock.ts'
import { processHolderName } from '../../store/named-lock.ts'
import type { Store } from '../../store/port/store.ts'
import { listenForStop } from '../program/stop-signal.ts'

/** Null where it was stopped, which is told. Throws CommandFault where another process is at it, or it cannot be done. */
export async function runStepManually<Made extends StepOutcome>(
  { jobs }: Pick<Store, 'jobs'>,
  step: JobStep,
  work: (lock: JobLock) => Promise<Made>,
): Promise<Made | null> {
  const stop = listenForStop()
  const lockName = LOCK_OF_JOB[step.job]
  try {
    const own = { jobs, holder: processHolderName(), clock: SYSTEM_CLOCK }
    const done = await withJobLock(lockName, own, stop.signal, (hand) => hand.record(step, () => work(hand)))
    if (done !== null) return done.result
    const who = (await jobs.lockHolders()).find((each) => each.name === lockName)?.holder ?? 'another process'
    throw new CommandFault(`${who} is building this at the moment: wait until it is done (domaindex jobs)`)
  } catch (error) {
    if (error instanceof BuildFault) throw new CommandFault(error.message)
    if (!stop.signal.aborted) throw error
    console.error('stopped; the former files are as they were')
    process.exitCode = 1
    return null
  } finally {
    stop.end()
  }
}
