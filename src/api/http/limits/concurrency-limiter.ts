/** Limits the calls or downloads of one account that are in flight in this process. Further ones wait in order. */

import { overloadedError } from '../errors.ts'

/** The limits per account: calls in flight, calls that wait, and the milliseconds that a call may wait. */
type ConcurrencyLimits = { maxInFlight: number; maxWaiting: number; maxWaitMs: number }

/** As long as a call waits for an unavailable store. */
export const MAX_WAIT_MS = 10_000
export const CALL_CONCURRENCY: ConcurrencyLimits = { maxInFlight: 8, maxWaiting: 1_000, maxWaitMs: MAX_WAIT_MS }
/** Lines of batches. They have slots of their own, so that a batch that nobody reads holds up no single call. */
export const BATCH_CONCURRENCY: ConcurrencyLimits = { ...CALL_CONCURRENCY }
/** Downloads take long, so further ones are rejected instead of waiting. */
export const DOWNLOAD_CONCURRENCY: ConcurrencyLimits = { maxInFlight: 64, maxWaiting: 0, maxWaitMs: 0 }

/** Requests that wait for events, and streams of events: few, because each is open for long. */
export const POLL_CONCURRENCY: ConcurrencyLimits = { maxInFlight: 4, maxWaiting: 0, maxWaitMs: 0 }
export const STREAM_CONCURRENCY: ConcurrencyLimits = { maxInFlight: 16, maxWaiting: 0, maxWaitMs: 0 }

/** Milliseconds between two checks of the calls that wait, while there are any. */
const CHECK_INTERVAL_MS = 250

/** If no call of the account ends for this many milliseconds, the store is slow, and the time counts as store wait. */
const STORE_STALL_MS = 50

/** `changedAt`: when a call last got or released a slot. `stalledMilliseconds`: the total store wait. */
type AccountSlots = { inFlight: number; waiting: WaitingCall[]; changedAt: number; stalledMilliseconds: number }
type WaitingCall = {
  since: number
  stalledAtStart: number
  start: (stalled: number) => void
  reject: (reason: unknown) => void
}

export class AccountConcurrencyLimiter {
  readonly #accounts = new Map<number, AccountSlots>()
  readonly #limits: ConcurrencyLimits
  readonly #monotonicMs: () => number
  /** Runs while calls wait: a client that does not read keeps its slots, so that no release may ever come. */
  #timer: NodeJS.Timeout | null = null

  constructor(limits = CALL_CONCURRENCY, monotonicMs: () => number = () => performance.now()) {
    this.#limits = limits
    this.#monotonicMs = monotonicMs
  }

  /**
   * Acquires a slot. Returns null if one is free. Otherwise returns a promise that resolves when one is free, with the
   * milliseconds of store wait during that time. It rejects after the longest wait. Throws if too many calls wait
   * already.
   */
  acquire(account: number): Promise<number> | null {
    const slots = this.#accounts.get(account)
    if (slots === undefined)
      this.#accounts.set(account, { inFlight: 1, waiting: [], changedAt: this.#monotonicMs(), stalledMilliseconds: 0 })
    else if (slots.inFlight < this.#limits.maxInFlight) slots.inFlight++
    else if (slots.waiting.length >= this.#limits.maxWaiting)
      throw overloadedError('Too many calls of this account are in progress.')
    else return this.#wait(slots)
    return null
  }

  /** Whether the next call of the account must wait. */
  isFull(account: number): boolean {
    return (this.#accounts.get(account)?.inFlight ?? 0) >= this.#limits.maxInFlight
  }

  #wait(slots: AccountSlots): Promise<number> {
    this.#timer ??= setInterval(() => this.#rejectLate(), CHECK_INTERVAL_MS).unref()
    const { promise, resolve: start, reject } = Promise.withResolvers<number>()
    slots.waiting.push({ since: this.#monotonicMs(), stalledAtStart: slots.stalledMilliseconds, start, reject })
    return promise
  }

  /** Rejects the calls that have waited too long, and stops the timer if no other call waits. */
  #rejectLate(): void {
    const latest = this.#monotonicMs() - this.#limits.maxWaitMs
    let isWaiting = false
    for (const { waiting } of this.#accounts.values()) {
      while (waiting.length > 0 && waiting[0]!.since < latest)
        waiting.shift()!.reject(overloadedError('Other calls of this account are in progress: read their responses.'))
      isWaiting ||= waiting.length > 0
    }
    if (isWaiting || this.#timer === null) return
    clearInterval(this.#timer)
    this.#timer = null
  }

  /** Releases a slot. The call that has waited longest gets it. */
  release(account: number): void {
    const slots = this.#accounts.get(account)
    if (slots === undefined) return
    const now = this.#monotonicMs()
    if (now - slots.changedAt > STORE_STALL_MS) slots.stalledMilliseconds += now - slots.changedAt
    slots.changedAt = now
    const next = slots.waiting.shift()
    if (next !== undefined) next.start(slots.stalledMilliseconds - next.stalledAtStart)
    else if (slots.inFlight > 1) slots.inFlight--
    else this.#accounts.delete(account)
  }
}
