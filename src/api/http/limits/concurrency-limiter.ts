/** Limits the calls or downloads of one account that are in flight in this process. Further ones wait in order. */

import { overloadedError } from '../../errors.ts'

/** The limits per account: calls in flight, and calls that wait. */
type ConcurrencyLimits = { maxInFlight: number; maxWaiting: number }

export const CALL_CONCURRENCY: ConcurrencyLimits = { maxInFlight: 8, maxWaiting: 1_000 }
/** Lines of batches. They have slots of their own, so that a batch that nobody reads holds up no single call. */
export const BATCH_CONCURRENCY: ConcurrencyLimits = { maxInFlight: 8, maxWaiting: 1_000 }
/** Downloads take long, so further ones are rejected instead of waiting. */
export const DOWNLOAD_CONCURRENCY: ConcurrencyLimits = { maxInFlight: 64, maxWaiting: 0 }

/** If no call of the account ends for this many milliseconds, the store is slow, and the time counts as store wait. */
const STORE_STALL_MS = 50

/** `changedAt`: when a call last got or released a slot. `stalledMilliseconds`: the total store wait. */
type AccountSlots = { inFlight: number; waiting: WaitingCall[]; changedAt: number; stalledMilliseconds: number }
type WaitingCall = { stalledAtStart: number; start: (stalled: number) => void }

export class AccountConcurrencyLimiter {
  readonly #accounts = new Map<number, AccountSlots>()
  readonly #limits: ConcurrencyLimits
  readonly #monotonicMs: () => number

  constructor(limits = CALL_CONCURRENCY, monotonicMs: () => number = () => performance.now()) {
    this.#limits = limits
    this.#monotonicMs = monotonicMs
  }

  /**
   * Acquires a slot. Returns null if one is free. Otherwise returns a promise that resolves when one is free, with the
   * milliseconds of store wait during that time. Throws if too many calls wait already.
   */
  acquire(account: number): Promise<number> | null {
    const slots = this.#accounts.get(account)
    if (slots === undefined)
      this.#accounts.set(account, { inFlight: 1, waiting: [], changedAt: this.#monotonicMs(), stalledMilliseconds: 0 })
    else if (slots.inFlight < this.#limits.maxInFlight) slots.inFlight++
    else if (slots.waiting.length >= this.#limits.maxWaiting)
      throw overloadedError('Too many calls of this account are in progress.')
    else return new Promise((start) => slots.waiting.push({ stalledAtStart: slots.stalledMilliseconds, start }))
    return null
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
