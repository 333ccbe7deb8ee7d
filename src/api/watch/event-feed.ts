/** Waits for new events: one poll of the store for all requests of this process that wait. */

import type { EventReader } from '../../store/port/watch/events.ts'
import { overloadedError } from '../http/errors.ts'
import type { ApiRequest } from '../http/exchange.ts'
import { AccountConcurrencyLimiter, POLL_CONCURRENCY, STREAM_CONCURRENCY } from '../http/limits/concurrency-limiter.ts'
import { SYSTEM_TIMERS, type Timers } from '../http/timers.ts'

/** Milliseconds between two reads of the number of the newest event, while a request waits. */
const POLL_MS = 500
/** The maximum number of requests of this process that wait. */
const MAX_WAITING = 1_000

/** `seen`: the number of the newest event that the request has seen. `until`: monotonic milliseconds. */
type Waiting = { seen: number; until: number; end: () => void }

/** Aborts when the response of a request is sent, or its client has gone. */
export function closeSignal({ accessRecord }: Pick<ApiRequest, 'accessRecord'>): AbortSignal {
  const closed = new AbortController()
  accessRecord.onClose.push(() => closed.abort())
  return closed.signal
}

export type EventFeedOptions = {
  events: EventReader
  monotonicMs: () => number
  /** Whether the server ends: then nothing waits any longer. */
  isEnding: () => boolean
  onFault: (fault: unknown) => void
  timers?: Pick<Timers, 'every'>
}

export class EventFeed {
  readonly #options: Required<EventFeedOptions>
  /** Streams, and requests that wait, by account. */
  readonly streams = new AccountConcurrencyLimiter(STREAM_CONCURRENCY)
  readonly polls = new AccountConcurrencyLimiter(POLL_CONCURRENCY)
  readonly #waiting = new Set<Waiting>()
  #stopTimer: (() => void) | null = null
  #isPolling = false

  constructor(options: EventFeedOptions) {
    this.#options = { timers: SYSTEM_TIMERS, ...options }
  }

  get isEnding(): boolean {
    return this.#options.isEnding()
  }

  /** The number of the newest event of any account. To be read before the events, so that none is missed. */
  last(): Promise<number> {
    return this.#options.events.lastEvent()
  }

  /**
   * Resolves when there is an event after `seen`, of any account, when the time is up, when the server ends, or when
   * `closed` aborts. Throws if too many requests wait.
   */
  wait(seen: number, milliseconds: number, closed: AbortSignal): Promise<void> {
    if (this.#waiting.size >= MAX_WAITING) throw overloadedError('Too many requests wait for events.')
    const { promise, resolve } = Promise.withResolvers<void>()
    const onAbort = (): void => this.#resolve((each) => each === waiting)
    const end = (): void => {
      closed.removeEventListener('abort', onAbort) // a stream waits thousands of times with one signal
      resolve()
    }
    const waiting: Waiting = { seen, until: this.#options.monotonicMs() + milliseconds, end }
    this.#waiting.add(waiting)
    closed.addEventListener('abort', onAbort, { once: true })
    this.#stopTimer ??= this.#options.timers.every(POLL_MS, () => void this.#poll())
    return promise
  }

  /** Ends all waiting. */
  close(): void {
    this.#resolve(() => true)
  }

  async #poll(): Promise<void> {
    if (this.#isPolling) return
    this.#isPolling = true
    try {
      const last = await this.last()
      const now = this.#options.monotonicMs()
      this.#resolve(({ seen, until }) => seen < last || until <= now || this.isEnding)
    } catch (fault) {
      this.#options.onFault(fault)
      this.close() // each request reads the store itself, and reports the fault
    } finally {
      this.#isPolling = false
    }
  }

  #resolve(isDone: (waiting: Waiting) => boolean): void {
    for (const waiting of this.#waiting) {
      if (!isDone(waiting)) continue
      this.#waiting.delete(waiting)
      waiting.end()
    }
    if (this.#waiting.size > 0) return
    this.#stopTimer?.()
    this.#stopTimer = null
  }
}
