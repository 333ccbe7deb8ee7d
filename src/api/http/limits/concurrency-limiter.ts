/** The lanes: how many calls of one account, or downloads, are in flight at once in this process; the rest wait in their order. */

import { overloadedError } from '../../errors.ts'

/** Of one account: how many are in flight at once, and how many wait behind them. */
type ConcurrencyLimits = { maxInFlight: number; maxWaiting: number }

export const CALL_CONCURRENCY: ConcurrencyLimits = { maxInFlight: 8, maxWaiting: 1_000 }
/** A download takes its time, so that one that has to wait is better told. */
export const DOWNLOAD_CONCURRENCY: ConcurrencyLimits = { maxInFlight: 64, maxWaiting: 0 }

/** Milliseconds without an end of any call of the account that count as waiting for the store, not for other calls. */
const STORE_STALL_MS = 50

/** `moved`: when a call entered or left; `stalled`: milliseconds in which the store was waited for. */
type AccountSlots = { inFlight: number; waiting: WaitingCall[]; changedAt: number; stalledMilliseconds: number }
type WaitingCall = { stalledAtStart: number; start: (stalled: number) => void }

export class AccountConcurrencyLimiter {
  readonly #accounts = new Map<number, AccountSlots>()
  readonly #limits: ConcurrencyLimits
  readonly #monotonicMs: () => number

  constructor(width = CALL_CONCURRENCY, monotonicMs: () => number = () => performance.now()) {
    this.#limits = width
    this.#monotonicMs = monotonicMs
  }

  /**
   * Returns null if the call may go on at once. Otherwise it waits for its turn, and hears for how many milliseconds of that
   * the store was waited for. Throws if too many wait already.
   */
  acquire(account: number): Promise<number> | null {
    const slots = this.#accounts.get(account)
    if (slots === undefined)
      this.#accounts.set(account, { inFlight: 1, waiting: [], changedAt: this.#monotonicMs(), stalledMilliseconds: 0 })
    else if (slots.inFlight < this.#limits.maxInFlight) slots.inFlight++
    else if (slots.waiting.length >= this.#limits.maxWaiting)
      throw overloadedError('Too many calls of this account are under way.')
    else return new Promise((go) => slots.waiting.push({ stalledAtStart: slots.stalledMilliseconds, start: go }))
    return null
  }

  /** Ends a call that entered; the one that waits longest takes its place. */
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
