/** Timers as a parameter, so that a simulation can replace them, and a wait with a timeout. */

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

/** Resolves with the result of `work`, or with null after the given milliseconds. It leaves no timer. */
export async function withTimeout<Result>(work: Promise<Result>, milliseconds: number): Promise<Result | null> {
  let timer: NodeJS.Timeout | undefined
  const timeout = new Promise<null>((resolve) => {
    timer = setTimeout(resolve, milliseconds, null).unref()
  })
  return Promise.race([work, timeout]).finally(() => clearTimeout(timer))
}
