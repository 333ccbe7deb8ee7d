/** The job scheduler: runs the next step of the plan in a loop, in one process at a time, until it is stopped. */

import type { LockClock } from '../store/named-lock.ts'
import type { Job, LockName } from '../store/port/jobs.ts'
import type { Store } from '../store/port/store.ts'
import { type JobLock, withJobLock } from './job-lock.ts'
import { type JobStep, type PlanInputs, planJobs } from './job-plan.ts'

/** The outcome of a step. `message`: a remark for the log. `held`: the file needs a manual decision. */
export type StepOutcome = { rows: number | null; message?: string | null; held?: true }

export type JobScheduler = {
  store: Pick<Store, 'jobs' | 'now'>
  holder: string
  clock: LockClock
  /** Reads the current inputs of the plan. */
  readInputs(): Promise<PlanInputs>
  /** Runs a step; the signal of the lock stops it. */
  run(step: JobStep, lock: JobLock): Promise<StepOutcome>
  /** Callbacks for the log. */
  events: { done(step: JobStep, outcome: StepOutcome): void; failed(step: JobStep | null, error: unknown): void }
}

/** Milliseconds before a lock that another process holds is tried again. */
const LOCK_RETRY_MS = 20_000
/** Milliseconds to wait after an error outside a step, such as a store that does not respond. */
const FAULT_RETRY_MS = 60_000

/** The named lock of each job. */
export const LOCK_OF_JOB: Readonly<Record<Job, LockName>> = {
  inbox: 'inbox',
  daily: 'daily',
  'request-7': 'followup',
  'request-30': 'followup',
  'followup-7': 'followup',
  'followup-30': 'followup',
  snapshot: 'snapshot',
  prune: 'prune',
}

/** Runs the due jobs until the signal aborts. If there are several processes, one works and the others stand by. */
export async function runJobScheduler(scheduler: JobScheduler, signal: AbortSignal): Promise<void> {
  const { clock, events } = scheduler
  while (!signal.aborted) {
    try {
      const ran = await withJobLock('scheduler', lockDependencies(scheduler), signal, (lock) =>
        scheduleWhileLocked(scheduler, lock),
      )
      if (ran === null) await clock.wait(LOCK_RETRY_MS, signal)
    } catch (error) {
      if (signal.aborted) return
      events.failed(null, error)
      await clock.wait(FAULT_RETRY_MS, signal)
    }
  }
}

async function scheduleWhileLocked(scheduler: JobScheduler, { signal, requireHeld }: JobLock): Promise<void> {
  while (!signal.aborted) {
    await requireHeld()
    const { step, recheckAt } = planJobs(await scheduler.readInputs())
    const pause =
      step === null
        ? await millisecondsUntil(scheduler, recheckAt)
        : (await runStepIfFree(scheduler, step, signal))
          ? 0
          : LOCK_RETRY_MS
    if (pause > 0) await scheduler.clock.wait(pause, signal)
  }
}

/** Runs all steps that are due now, then returns. */
export async function runDueJobs(scheduler: JobScheduler, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const { step } = planJobs(await scheduler.readInputs())
    if (step === null || !(await runStepIfFree(scheduler, step, signal))) return
  }
}

/** Milliseconds until an instant, at least one second. */
async function millisecondsUntil({ store }: JobScheduler, instant: number): Promise<number> {
  return Math.max(1, instant - (await store.now())) * 1_000
}

/** Runs a step and reports its outcome. Returns false if another process holds its lock. */
async function runStepIfFree(scheduler: JobScheduler, step: JobStep, signal: AbortSignal): Promise<boolean> {
  const { events, run } = scheduler
  try {
    const done = await withJobLock(LOCK_OF_JOB[step.job], lockDependencies(scheduler), signal, (lock) =>
      lock.record(step, () => run(step, lock)),
    )
    if (done !== null) events.done(step, done.result)
    return done !== null
  } catch (error) {
    if (!signal.aborted) events.failed(step, error)
    return true
  }
}

const lockDependencies = ({ store, holder, clock }: JobScheduler) => ({ jobs: store.jobs, holder, clock })
