/** When a failed call is repeated: after faults of the network and of the server, within a bounded time. */

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
  /** The time in which a call is repeated, in milliseconds from its first attempt. Every delay counts. */
  retryMs: number
  /** The longest Retry-After of status 429 that is waited for, in seconds; 0: none. */
  maxRetryAfter: number
  wait: Wait
  /** Milliseconds of a monotonic clock. */
  monotonicMs: () => number
  /** At least 0 and less than 1. */
  random: () => number
  /** Removes the token from an error before it is thrown. */
  withoutToken: <T>(error: T) => T
}

/** Faults of the server, and of a proxy before it whose server is restarting. */
const REPEATED_STATUSES: readonly (number | null)[] = [500, 502, 503, 504]

/** Calls `action` until it succeeds. Throws its last error if that is permanent or the repetitions are used up. */
export async function withRetries<T>(
  policy: RetryPolicy,
  action: () => Promise<T>,
  signal: AbortSignal | undefined,
): Promise<T> {
  const repetitions = new Repetitions(policy)
  for (;;) {
    signal?.throwIfAborted()
    try {
      return await action()
    } catch (error) {
      signal?.throwIfAborted()
      await repetitions.waitAfter(error, signal)
    }
  }
}

/**
 * Gives the items of `attempt`. After a fault it calls `attempt` again, which gives the rest. The repetitions and their
 * time count from the last item. After an abort it gives no item.
 */
export async function* withResumption<T>(
  policy: RetryPolicy,
  attempt: () => AsyncIterable<T>,
  signal: AbortSignal | undefined,
): AsyncGenerator<T, void, void> {
  let repetitions = new Repetitions(policy)
  for (;;) {
    signal?.throwIfAborted()
    try {
      for await (const item of attempt()) {
        signal?.throwIfAborted()
        yield item
        repetitions = new Repetitions(policy) // the time that the caller took for the item does not count
      }
      return
    } catch (error) {
      signal?.throwIfAborted()
      await repetitions.waitAfter(error, signal)
    }
  }
}

/** The repetitions of one call. */
class Repetitions {
  readonly #policy: RetryPolicy
  readonly #startedAt: number
  #count = 0

  constructor(policy: RetryPolicy) {
    this.#policy = policy
    this.#startedAt = policy.monotonicMs()
  }

  /**
   * Waits before the next repetition. Throws `error` if it is permanent, or if the repetitions or their time are used
   * up.
   */
  async waitAfter(error: unknown, signal: AbortSignal | undefined): Promise<void> {
    const { retries, retryMs, monotonicMs, wait, withoutToken } = this.#policy
    const delay = this.#count < retries ? delayAfter(error, this.#count, this.#policy) : null
    if (delay === null || monotonicMs() - this.#startedAt + delay > retryMs) throw withoutToken(error)
    this.#count++
    await wait(delay, signal)
  }
}

/** Milliseconds until a call is repeated; null if its error is permanent. */
function delayAfter(
  error: unknown,
  attempt: number,
  { maxRetryAfter, random }: Pick<RetryPolicy, 'maxRetryAfter' | 'random'>,
): number | null {
  const isNetwork = error instanceof NetworkError
  if (!isNetwork && !(error instanceof DomaindexError) && !(error instanceof InvalidResponseError)) return null
  const { status, retryAfter } = isNetwork ? { status: null, retryAfter: null } : error
  const isAwaited = status === 429 && retryAfter !== null && retryAfter <= maxRetryAfter
  if (!isNetwork && !isAwaited && !REPEATED_STATUSES.includes(status)) return null
  if (retryAfter !== null) return Math.min((retryAfter + random()) * 1_000, MAX_TIMER_MS)
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
