/** Named locks: acquires one for a piece of work, renews it, and releases it. */

import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { StoreFault } from './port/fault.ts'
import { type Jobs, LOCK_SECONDS, type LockHold, type LockHolder, type LockName } from './port/jobs.ts'

/** `wait` resolves after `milliseconds` or when the signal is aborted. It never rejects. */
export type WaitClock = { wait(milliseconds: number, signal: AbortSignal): Promise<void> }
/** `monotonicMs`: milliseconds of a monotonic clock. */
export type LockClock = WaitClock & { monotonicMs(): number }

/** Milliseconds between two renewals. */
const RENEW_MS = 20_000

/** A lock that this process holds. `signal` is aborted by the caller's signal or if the lock is lost. */
export type HeldLock = {
  hold: LockHold
  signal: AbortSignal
  /** Aborts `signal` and returns the error to throw when the lock is lost. */
  markLost(): StoreFault
  /** Throws if the lock is lost. When it resolves, the lock has not expired, however late the store's reply was. */
  requireHeld(): Promise<void>
}

/** A unique name of this process, by which other processes of this machine can tell whether it still runs. */
export function processHolderName(): string {
  return `${hostname()} ${process.pid} ${randomUUID().slice(0, 8)}`
}

/** Holds a lock while `work` runs. Returns null, without running it, if another process holds the lock. */
export async function withNamedLock<Result>(
  name: LockName,
  { jobs, holder, clock }: { jobs: Jobs; holder: string; clock: LockClock },
  signal: AbortSignal,
  work: (lock: HeldLock) => Promise<Result>,
): Promise<{ result: Result } | null> {
  await releaseDeadHolders(jobs)
  const hold = await jobs.acquireLock(name, holder)
  if (hold === null) return null
  const [ended, lossAbort] = [new AbortController(), new AbortController()]
  const markLost = (): StoreFault => {
    lossAbort.abort(new StoreFault(`${name}: another process has taken it over`))
    return lossAbort.signal.reason
  }
  const renewal = renewUntilAborted(jobs, hold, { clock, signal: ended.signal, lose: markLost })
  try {
    return { result: await work(heldLockOf(jobs, hold, { clock, signal, lost: lossAbort.signal, lose: markLost })) }
  } finally {
    ended.abort()
    await renewal
    await jobs.releaseLock(hold).catch(() => {}) // it expires on its own
  }
}

type LockLoss = { signal: AbortSignal; lose: () => StoreFault }

/** Renews a lock every 20 seconds until the signal is aborted. */
async function renewUntilAborted(
  jobs: Jobs,
  hold: LockHold,
  { clock, signal, lose }: LockLoss & { clock: WaitClock },
): Promise<void> {
  for (;;) {
    await clock.wait(RENEW_MS, signal)
    if (signal.aborted) return
    if (!(await jobs.renewLock(hold).catch(() => true))) lose() // an unavailable store does not end the lock
  }
}

function heldLockOf(
  jobs: Jobs,
  hold: LockHold,
  { clock, signal, lost, lose }: LockLoss & { clock: LockClock; lost: AbortSignal },
): HeldLock {
  return {
    hold,
    signal: AbortSignal.any([signal, lost]),
    markLost: lose,
    async requireHeld() {
      let sentAt: number
      do {
        sentAt = clock.monotonicMs()
        if (!(await jobs.renewLock(hold))) throw lose()
      } while (clock.monotonicMs() - sentAt >= LOCK_SECONDS * 1000)
    },
  }
}

/** Releases the locks of dead processes of this machine, so that no process waits until they expire. */
async function releaseDeadHolders(jobs: Jobs): Promise<void> {
  for (const lock of await jobs.lockHolders()) if (isDeadHolder(lock)) await jobs.releaseLock(lock)
}

/** Whether the holder was a process of this machine that has ended. */
function isDeadHolder({ holder }: LockHolder): boolean {
  const [, host, pid] = /^(\S+) (\d+) \S+$/.exec(holder) ?? []
  if (host !== hostname()) return false
  try {
    return !process.kill(Number(pid), 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH'
  }
}
