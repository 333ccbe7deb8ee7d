/** Timers as a parameter, so that a simulation can replace them. */

import { setTimeout as sleep } from 'node:timers/promises'

export type Timers = {
  /** Calls `work` regularly, until the returned function is called. Does not keep the process alive. */
  every(milliseconds: number, work: () => void): () => void
  wait(milliseconds: number): Promise<unknown>
}

export const SYSTEM_TIMERS: Timers = {
  every(milliseconds, work) {
    const timer = setInterval(work, milliseconds).unref()
    return () => clearInterval(timer)
  },
  wait: (milliseconds) => sleep(milliseconds),
}
