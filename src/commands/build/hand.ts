/** A step of the nights by hand: its duty is taken, its run noted, its progress shown, and it can be stopped. */

import { type InHand, withNotes } from '../../nightly/duty.ts'
import { BuildFault } from '../../nightly/fault.ts'
import { DUTY_OF, type Outcome } from '../../nightly/night.ts'
import type { Step } from '../../nightly/plan.ts'
import { holderName } from '../../store/duty.ts'
import type { Store } from '../../store/store.ts'
import { CLOCK } from '../clock.ts'
import { CommandFault } from '../fault.ts'
import { listenForStop } from '../stop.ts'

/** Null where it was stopped, which is told. Throws CommandFault where another process is at it, or it cannot be done. */
export async function byHand<Made extends Outcome>(
  { jobs }: Pick<Store, 'jobs'>,
  step: Step,
  work: (hand: InHand) => Promise<Made>,
): Promise<Made | null> {
  const stop = listenForStop()
  const duty = DUTY_OF[step.job]
  try {
    const own = { jobs, holder: holderName(), clock: CLOCK }
    const done = await withNotes(duty, own, stop.signal, (hand) => hand.note(step, () => work(hand)))
    if (done !== null) return done.result
    const who = (await jobs.holders()).find((each) => each.duty === duty)?.holder ?? 'another process'
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
