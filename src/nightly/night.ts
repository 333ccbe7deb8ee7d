/** The nights: a loop that takes the plan's first step again and again, in one process of all, until it is stopped. */

import type { Clock } from '../store/duty.ts'
import type { Duty, Job } from '../store/jobs.ts'
import type { Store } from '../store/store.ts'
import { type InHand, withNotes } from './duty.ts'
import { type Known, planOf, type Step } from './plan.ts'

/** What came of a step. `words`: what there is to say of it; `held`: somebody has to look at it. */
export type Outcome = { rows: number | null; words?: string | null; held?: true }

export type Night = {
  store: Pick<Store, 'jobs' | 'now'>
  holder: string
  clock: Clock
  /** All that a plan goes by, as it is now. */
  look(): Promise<Known>
  /** Does a step, which is given up by the hand's signal. */
  make(step: Step, hand: InHand): Promise<Outcome>
  /** Told what happens. */
  tell: { made(step: Step, outcome: Outcome): void; failed(step: Step | null, error: unknown): void }
}

/** Milliseconds until a duty that another process has is asked for again. */
const TAKEN = 20_000
/** Milliseconds after a fault that is no step's own, such as a store that does not answer. */
const FAULT = 60_000

/** The duty that a job belongs to. */
export const DUTY_OF: Readonly<Record<Job, Duty>> = {
  inbox: 'inbox',
  daily: 'daily',
  'queue-7': 'followup',
  'queue-30': 'followup',
  'followup-7': 'followup',
  'followup-30': 'followup',
  snapshot: 'snapshot',
}

/** Does what is to be done each night until the signal comes; of several processes one works, and the others stand by. */
export async function runNights(night: Night, signal: AbortSignal): Promise<void> {
  const { clock, tell } = night
  while (!signal.aborted) {
    try {
      const ran = await withNotes('night', duties(night), signal, (hand) => watch(night, hand))
      if (ran === null) await clock.wait(TAKEN, signal)
    } catch (error) {
      if (signal.aborted) return
      tell.failed(null, error)
      await clock.wait(FAULT, signal)
    }
  }
}

async function watch(night: Night, { signal, stands }: InHand): Promise<void> {
  while (!signal.aborted) {
    await stands()
    const { step, again } = planOf(await night.look())
    const pause = step === null ? await secondsUntil(night, again) : (await take(night, step, signal)) ? 0 : TAKEN
    if (pause > 0) await night.clock.wait(pause, signal)
  }
}

/** Does all that is to be done now, and returns. */
export async function catchUp(night: Night, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const { step } = planOf(await night.look())
    if (step === null || !(await take(night, step, signal))) return
  }
}

/** Milliseconds, at least one second's. */
async function secondsUntil({ store }: Night, instant: number): Promise<number> {
  return Math.max(1, instant - (await store.now())) * 1_000
}

/** Does a step, whatever comes of it; false where another process has its duty. */
async function take(night: Night, step: Step, signal: AbortSignal): Promise<boolean> {
  const { tell, make } = night
  try {
    const done = await withNotes(DUTY_OF[step.job], duties(night), signal, (hand) =>
      hand.note(step, () => make(step, hand)),
    )
    if (done !== null) tell.made(step, done.result)
    return done !== null
  } catch (error) {
    if (!signal.aborted) tell.failed(step, error)
    return true
  }
}

const duties = ({ store, holder, clock }: Night) => ({ jobs: store.jobs, holder, clock })
