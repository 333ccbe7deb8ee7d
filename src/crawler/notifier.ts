/** A notifier wakes the waiting task, at the latest after a timeout. */

/** `wait` resolves after the given milliseconds or with the signal, and never rejects. */
export type CrawlClock = {
  /** Milliseconds of a monotonic clock. */
  monotonicMs(): number
  wait(milliseconds: number, signal: AbortSignal): Promise<void>
}

export type Notifier = {
  notify(): void
  /**
   * Resolves at the next notification, or after the given milliseconds. A notification without a waiting task wakes the
   * next one.
   */
  wait(milliseconds: number): Promise<void>
}

/** A constant abort reason, because creating an error with its stack takes longer than all the rest. */
const NOTIFIED = 'notified'

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
