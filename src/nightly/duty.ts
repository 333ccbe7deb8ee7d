/** A duty of the nights in this process's hands, whose work is noted run by run. */

import { type Clock, type Hand, withDuty } from '../store/duty.ts'
import { plainWords, StoreFault } from '../store/fault.ts'
import type { Duty, Jobs } from '../store/jobs.ts'
import { BuildFault } from './fault.ts'
import { STOPPED, type Step } from './plan.ts'

/** A duty that this process has, and a book of what it does. */
export type InHand = Pick<Hand, 'signal' | 'stands'> & {
  /** Does a step and notes it: when it began and ended, its rows, or why it failed. Throws what the work throws. */
  note<Result extends { rows: number | null }>(step: Step, work: () => Promise<Result>): Promise<Result>
}

/** Takes a duty for the length of `work`. Null where another process has it, and then nothing is done. */
export function withNotes<Result>(
  duty: Duty,
  site: { jobs: Jobs; holder: string; clock: Clock },
  signal: AbortSignal,
  work: (hand: InHand) => Promise<Result>,
): Promise<{ result: Result } | null> {
  return withDuty(duty, site, signal, (hand) => work(notedBy(site.jobs, hand)))
}

function notedBy(jobs: Jobs, { hold, signal, stands, lose }: Hand): InHand {
  return {
    signal,
    stands,
    async note({ job, date }, work) {
      const run = await jobs.begin(hold, job, date)
      if (run === null) throw lose()
      try {
        const result = await work()
        await jobs.end(run, { rows: result.rows, error: null })
        return result
      } catch (error) {
        const words = signal.aborted ? STOPPED : wordsOf(error)
        await jobs.end(run, { rows: null, error: words }).catch(() => {}) // the fault itself counts for more
        throw error
      }
    },
  }
}

/** What went wrong in one line, without control characters. */
export function wordsOf(error: unknown): string {
  const isPlain = error instanceof BuildFault || error instanceof StoreFault
  const words = (isPlain ? null : plainWords(error)) ?? (error instanceof Error ? error.message : String(error))
  return words.replace(/\p{Cc}+/gu, ' ').slice(0, 1_000)
}
