/** The clock of crawls, jobs and the indexer: real time. */

import type { CrawlClock } from '../crawler/notifier.ts'

/** The maximum delay of a timer of Node. */
const MAX_TIMER_MS = 2 ** 31 - 1

export const SYSTEM_CLOCK: CrawlClock = {
  monotonicMs: () => performance.now(),
  wait: (milliseconds, signal) =>
    new Promise((resolve) => {
      if (signal.aborted) return resolve()
      const end = (): void => {
        clearTimeout(timer)
        signal.removeEventListener('abort', end)
        resolve()
      }
      const timer = setTimeout(end, Math.min(milliseconds, MAX_TIMER_MS))
      signal.addEventListener('abort', end)
    }),
}
