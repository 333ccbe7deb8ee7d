/** The clock of what goes on and on, a crawl, the nights or the index: real time. */

import type { Clock } from '../schedule/bell.ts'

/** The longest that a timer of Node waits. */
const MOST_MILLISECONDS = 2 ** 31 - 1

export const CLOCK: Clock = {
  ticks: () => performance.now(),
  wait: (milliseconds, signal) =>
    new Promise((resolve) => {
      if (signal.aborted) return resolve()
      const end = (): void => {
        clearTimeout(timer)
        signal.removeEventListener('abort', end)
        resolve()
      }
      const timer = setTimeout(end, Math.min(milliseconds, MOST_MILLISECONDS))
      signal.addEventListener('abort', end)
    }),
}
