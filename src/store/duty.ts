/** A duty in this process's hands: taken, held while it works, and given back. */

import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { StoreFault } from './fault.ts'
import type { Duty, Hold, Holder, Jobs } from './jobs.ts'

/** `wait` resolves after so many milliseconds or when the signal comes, and never rejects. */
export type Clock = { wait(milliseconds: number, signal: AbortSignal): Promise<void> }

/** Milliseconds between two renewals of a hold. */
const RENEW = 20_000

/** A duty that this process has. `signal`: that of whoever wants the work, and also ends it where the hold is lost. */
export type Hand = {
  hold: Hold
  signal: AbortSignal
  /** What is thrown where the hold no longer stands; the signal comes with it. */
  lose(): StoreFault
  /** Throws where the hold no longer stands. */
  stands(): Promise<void>
}

/** What a process is called: unlike any other, and such that this machine knows whether it still runs. */
export function holderName(): string {
  return `${hostname()} ${process.pid} ${randomUUID().slice(0, 8)}`
}

/** Takes a duty for the length of `work`. Null where another process has it, and then nothing is done. */
export async function withDuty<Result>(
  duty: Duty,
  { jobs, holder, clock }: { jobs: Jobs; holder: string; clock: Clock },
  signal: AbortSignal,
  work: (hand: Hand) => Promise<Result>,
): Promise<{ result: Result } | null> {
  await releaseDead(jobs)
  const hold = await jobs.take(duty, holder)
  if (hold === null) return null
  const [ended, lost] = [new AbortController(), new AbortController()]
  const lose = (): StoreFault => {
    lost.abort(new StoreFault(`${duty}: another process has taken it over`))
    return lost.signal.reason
  }
  const kept = keep(jobs, hold, { clock, signal: ended.signal, lose })
  try {
    return { result: await work(handOf(jobs, hold, { signal, lost: lost.signal, lose })) }
  } finally {
    ended.abort()
    await kept
    await jobs.release(hold).catch(() => {}) // it runs out by itself
  }
}

type Losing = { signal: AbortSignal; lose: () => StoreFault }

/** Renews a hold now and then, until the signal comes. */
async function keep(jobs: Jobs, hold: Hold, { clock, signal, lose }: Losing & { clock: Clock }): Promise<void> {
  for (;;) {
    await clock.wait(RENEW, signal)
    if (signal.aborted) return
    if (!(await jobs.renew(hold).catch(() => true))) lose() // a store that is away for a moment takes no hold
  }
}

function handOf(jobs: Jobs, hold: Hold, { signal, lost, lose }: Losing & { lost: AbortSignal }): Hand {
  return {
    hold,
    signal: AbortSignal.any([signal, lost]),
    lose,
    async stands() {
      if (!(await jobs.renew(hold))) throw lose()
    },
  }
}

/** Nobody need wait until a hold runs out whose process was one of this machine, and runs no more. */
async function releaseDead(jobs: Jobs): Promise<void> {
  for (const each of await jobs.holders()) if (isGone(each)) await jobs.release(each)
}

/** Whether a holder was a process of this machine that runs no more. */
function isGone({ holder }: Holder): boolean {
  const [, host, pid] = /^(\S+) (\d+) \S+$/.exec(holder) ?? []
  if (host !== hostname()) return false
  try {
    return !process.kill(Number(pid), 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH'
  }
}
