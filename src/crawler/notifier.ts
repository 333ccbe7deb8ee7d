/** A bell: who waits at it goes on when it rings, or when the time is over. */

/** `wait` resolves after so many milliseconds or when the signal comes, and never rejects. */
export type CrawlClock = {
  /** Milliseconds of a clock that is never set. */
  monotonicMs(): number
  wait(milliseconds: number, signal: AbortSignal): Promise<void>
}

export type Notifier = {
  notify(): void
  /** Resolves when it rings, at the latest after so many milliseconds. A ring that nobody waited for counts for who waits next. */
  wait(milliseconds: number): Promise<void>
}

/** A reason, because to make one, with its stack, takes longer than all the rest. */
const NOTIFIED = 'rung'

export function createNotifier(clock: CrawlClock): Notifier {
  let abortWait: AbortController | null = null
  let isNotified = false
  return {
    notify() {
      isNotified = true
      abortWait?.abort(NOTIFIED)
    },
    async wait(milliseconds) {
      if (!isNotified && milliseconds > 0) {
        abortWait = new AbortController()
        await clock.wait(milliseconds, abortWait.signal)
        abortWait = null
      }
      isNotified = false
    },
  }
}
