/** A duty in this process's hands: taken, held while it works, and given back. */

import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { StoreFault } from './port/fault.ts'
import type { Jobs, LockHold, LockHolder, LockName } from './port/jobs.ts'

/** `wait` resolves after so many milliseconds or when the signal comes, and never rejects. */
export type WaitClock = { wait(milliseconds: number, signal: AbortSignal): Promise<void> }

/** Milliseconds between two renewals of a hold. */
const RENEW_MS = 20_000

/** A duty that this process has. `signal`: that of whoever wants the work, and also ends it where the hold is lost. */
export type HeldLock = {
  hold: LockHold
  signal: AbortSignal
  /** What is thrown where the hold no longer stands; the signal comes with it. */
  markLost(): StoreFault
  /** Throws where the hold no longer stands. */
  requireHeld(): Promise<void>
}

/** What a process is called: unlike any other, and such that this machine knows whether it still runs. */
export function processHolderName(): string {
  return `${hostname()} ${process.pid} ${randomUUID().slice(0, 8)}`
}

/** Takes a duty for the length of `work`. Null where another process has it, and then nothing is done. */
export async function withNamedLock<Result>(
  name: LockName,
  { jobs, holder, clock }: { jobs: Jobs; holder: string; clock: WaitClock },
  signal: AbortSignal,
  work: (lock: HeldLock) => Promise<Result>,
): Promise<{ result: Result } | null> {
  await releaseDeadHolders(jobs)
  const hold = await jobs.acquireLock(name, holder)
  if (hold === null) return null
  const [ended, lost] = [new AbortController(), new AbortController()]
  const lose = (): StoreFault => {
    lost.abort(new StoreFault(`${name}: another process has taken it over`))
    return lost.signal.reason
  }
  const kept = renewUntilAborted(jobs, hold, { clock, signal: ended.signal, lose })
  try {
    return { result: await work(heldLockOf(jobs, hold, { signal, lost: lost.signal, lose })) }
  } finally {
    ended.abort()
    await kept
    await jobs.releaseLock(hold).catch(() => {}) // it runs out by itself
  }
}

type LockLoss = { signal: AbortSignal; lose: () => StoreFault }

/** Renews a hold now and then, until the signal comes. */
async function renewUntilAborted(
  jobs: Jobs,
  hold: LockHold,
  { clock, signal, lose }: LockLoss & { clock: WaitClock },
): Promise<void> {
  for (;;) {
    await clock.wait(RENEW_MS, signal)
    if (signal.aborted) return
    if (!(await jobs.renewLock(hold).catch(() => true))) lose() // a store that is away for a moment takes no hold
  }
}

function heldLockOf(jobs: Jobs, hold: LockHold, { signal, lost, lose }: LockLoss & { lost: AbortSignal }): HeldLock {
  return {
    hold,
    signal: AbortSignal.any([signal, lost]),
    markLost: lose,
    async requireHeld() {
      if (!(await jobs.renewLock(hold))) throw lose()
    },
  }
}

/** Nobody need wait until a hold runs out whose process was one of this machine, and runs no more. */
async function releaseDeadHolders(jobs: Jobs): Promise<void> {
  for (const each of await jobs.lockHolders()) if (isDeadHolder(each)) await jobs.releaseLock(each)
}

/** Whether a holder was a process of this machine that runs no more. */
function isDeadHolder({ holder }: LockHolder): boolean {
  const [, host, pid] = /^(\S+) (\d+) \S+$/.exec(holder) ?? []
  if (host !== hostname()) return false
  try {
    return !process.kill(Number(pid), 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH'
  }
}
