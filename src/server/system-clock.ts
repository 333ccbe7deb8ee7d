/** The clock of what goes on and on, a crawl, the nights or the index: real time. */

import type { CrawlClock } from '../crawler/notifier.ts'

/** The longest that a timer of Node waits. */
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
