/** When a failed call is repeated: after faults of the network and of the server, a bounded number of times. */

import { DomaindexError, InvalidResponseError, NetworkError } from './errors.ts'

/** The maximum delay before the first repetition, in milliseconds. It doubles with each further one. */
const FIRST_DELAY_MS = 500
const MAX_DELAY_MS = 20_000
/** The longest delay of a timer (HTML, section Timers). */
const MAX_TIMER_MS = 2 ** 31 - 1

/** Resolves after `ms` milliseconds. Rejects with the reason of `signal` when it aborts. */
export type Wait = (ms: number, signal?: AbortSignal) => Promise<void>

export type RetryPolicy = {
  /** How often a call is repeated. */
  retries: number
  /** The longest Retry-After that is waited for, in seconds; 0: none. */
  maxRetryAfter: number
  wait: Wait
  /** At least 0 and less than 1. */
  random: () => number
  /** Removes the token from an error before it is thrown. */
  withoutToken: <T>(error: T) => T
}

/** Calls `action` until it succeeds. Throws its last error if that is permanent or the repetitions are used up. */
export async function withRetries<T>(
  policy: RetryPolicy,
  action: () => Promise<T>,
  signal: AbortSignal | undefined,
): Promise<T> {
  for (let attempt = 0; ; attempt++) {
    signal?.throwIfAborted()
    try {
      return await action()
    } catch (error) {
      signal?.throwIfAborted()
      const delay = attempt < policy.retries ? delayAfter(error, attempt, policy) : null
      if (delay === null) throw policy.withoutToken(error)
      await policy.wait(delay, signal)
    }
  }
}

/**
 * Gives the items of `attempt`. After a fault it calls `attempt` again, which gives the rest. The repetitions count from
 * the last item.
 */
export async function* withResumption<T>(
  policy: RetryPolicy,
  attempt: () => AsyncIterable<T>,
  signal: AbortSignal | undefined,
): AsyncGenerator<T, void, void> {
  for (let failures = 0; ; ) {
    signal?.throwIfAborted()
    try {
      for await (const item of attempt()) {
        failures = 0
        yield item
      }
      return
    } catch (error) {
      signal?.throwIfAborted()
      const delay = failures < policy.retries ? delayAfter(error, failures, policy) : null
      if (delay === null) throw policy.withoutToken(error)
      failures++
      await policy.wait(delay, signal)
    }
  }
}

/** Milliseconds until a call is repeated; null if its error is permanent. */
export function delayAfter(error: unknown, attempt: number, { maxRetryAfter, random }: RetryPolicy): number | null {
  const isNetwork = error instanceof NetworkError
  if (!isNetwork && !(error instanceof DomaindexError) && !(error instanceof InvalidResponseError)) return null
  const { status, retryAfter } = isNetwork ? { status: null, retryAfter: null } : error
  if (status !== null && status !== 500 && status !== 429) return null
  if (retryAfter !== null && maxRetryAfter > 0)
    return retryAfter > maxRetryAfter ? null : Math.min((retryAfter + random()) * 1_000, MAX_TIMER_MS)
  if (status === 429) return null
  return random() * Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** attempt) // "full jitter"
}

export const waitByTimer: Wait = (ms, signal) =>
  new Promise((resolve, reject) => {
    const onAbort = (): void => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', onAbort)
      resolve()
    }, ms)
    signal?.addEventListener('abort', onAbort, { once: true })
  })
