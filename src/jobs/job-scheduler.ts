/** The nights: a loop that takes the plan's first step again and again, in one process of all, until it is stopped. */

import type { WaitClock } from '../store/named-lock.ts'
import type { Job, LockName } from '../store/port/jobs.ts'
import type { Store } from '../store/port/store.ts'
import { type JobLock, withJobLock } from './job-lock.ts'
import { type JobStep, type PlanInputs, planJobs } from './job-plan.ts'

/** What came of a step. `words`: what there is to say of it; `held`: somebody has to look at it. */
export type StepOutcome = { rows: number | null; message?: string | null; held?: true }

export type JobScheduler = {
  store: Pick<Store, 'jobs' | 'now'>
  holder: string
  clock: WaitClock
  /** All that a plan goes by, as it is now. */
  readInputs(): Promise<PlanInputs>
  /** Does a step, which is given up by the hand's signal. */
  run(step: JobStep, lock: JobLock): Promise<StepOutcome>
  /** Told what happens. */
  events: { done(step: JobStep, outcome: StepOutcome): void; failed(step: JobStep | null, error: unknown): void }
}

/** Milliseconds until a duty that another process has is asked for again. */
const LOCK_RETRY_MS = 20_000
/** Milliseconds after a fault that is no step's own, such as a store that does not answer. */
const FAULT_RETRY_MS = 60_000

/** The duty that a job belongs to. */
export const LOCK_OF_JOB: Readonly<Record<Job, LockName>> = {
  inbox: 'inbox',
  daily: 'daily',
  'request-7': 'followup',
  'request-30': 'followup',
  'followup-7': 'followup',
  'followup-30': 'followup',
  snapshot: 'snapshot',
}

/** Does what is to be done each night until the signal comes; of several processes one works, and the others stand by. */
export async function runJobScheduler(scheduler: JobScheduler, signal: AbortSignal): Promise<void> {
  const { clock, events } = scheduler
  while (!signal.aborted) {
    try {
      const ran = await withJobLock('scheduler', lockDependencies(scheduler), signal, (hand) =>
        scheduleWhileLocked(scheduler, hand),
      )
      if (ran === null) await clock.wait(LOCK_RETRY_MS, signal)
    } catch (error) {
      if (signal.aborted) return
      events.failed(null, error)
      await clock.wait(FAULT_RETRY_MS, signal)
    }
  }
}

async function scheduleWhileLocked(scheduler: JobScheduler, { signal, requireHeld: stands }: JobLock): Promise<void> {
  while (!signal.aborted) {
    await stands()
    const { step, recheckAt: again } = planJobs(await scheduler.readInputs())
    const pause =
      step === null
        ? await millisecondsUntil(scheduler, again)
        : (await runStepIfFree(scheduler, step, signal))
          ? 0
          : LOCK_RETRY_MS
    if (pause > 0) await scheduler.clock.wait(pause, signal)
  }
}

/** Does all that is to be done now, and returns. */
export async function runDueJobs(scheduler: JobScheduler, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const { step } = planJobs(await scheduler.readInputs())
    if (step === null || !(await runStepIfFree(scheduler, step, signal))) return
  }
}

/** Milliseconds, at least one second's. */
async function millisecondsUntil({ store }: JobScheduler, instant: number): Promise<number> {
  return Math.max(1, instant - (await store.now())) * 1_000
}

/** Does a step, whatever comes of it; false where another process has its duty. */
async function runStepIfFree(scheduler: JobScheduler, step: JobStep, signal: AbortSignal): Promise<boolean> {
  const { events, run: make } = scheduler
  try {
    const done = await withJobLock(LOCK_OF_JOB[step.job], lockDependencies(scheduler), signal, (hand) =>
      hand.record(step, () => make(step, hand)),
    )
    if (done !== null) events.done(step, done.result)
    return done !== null
  } catch (error) {
    if (!signal.aborted) events.failed(step, error)
    return true
  }
}

const lockDependencies = ({ store, holder, clock }: JobScheduler) => ({ jobs: store.jobs, holder, clock })
