/** The lanes: how many calls of one account, or downloads, are in flight at once in this process; the rest wait in their order. */

import { overloaded } from './errors.ts'

/** Of one account: how many are in flight at once, and how many wait behind them. */
type Width = { inFlight: number; waiting: number }

export const CALLS: Width = { inFlight: 8, waiting: 1_000 }
/** A download takes its time, so that one that has to wait is better told. */
export const DOWNLOADS: Width = { inFlight: 64, waiting: 0 }

/** Milliseconds without an end of any call of the account that count as waiting for the store, not for other calls. */
const STALL = 50

/** `moved`: when a call entered or left; `stalled`: milliseconds in which the store was waited for. */
type Lane = { inFlight: number; waiting: Waiting[]; moved: number; stalled: number }
type Waiting = { stalled: number; go: (stalled: number) => void }

export class Lanes {
  readonly #lanes = new Map<number, Lane>()
  readonly #width: Width
  readonly #ticks: () => number

  constructor(width = CALLS, ticks: () => number = () => performance.now()) {
    this.#width = width
    this.#ticks = ticks
  }

  /**
   * Returns null if the call may go on at once. Otherwise it waits for its turn, and hears for how many milliseconds of that
   * the store was waited for. Throws if too many wait already.
   */
  enter(account: number): Promise<number> | null {
    const lane = this.#lanes.get(account)
    if (lane === undefined) this.#lanes.set(account, { inFlight: 1, waiting: [], moved: this.#ticks(), stalled: 0 })
    else if (lane.inFlight < this.#width.inFlight) lane.inFlight++
    else if (lane.waiting.length >= this.#width.waiting)
      throw overloaded('Too many calls of this account are under way.')
    else return new Promise((go) => lane.waiting.push({ stalled: lane.stalled, go }))
    return null
  }

  /** Ends a call that entered; the one that waits longest takes its place. */
  leave(account: number): void {
    const lane = this.#lanes.get(account)
    if (lane === undefined) return
    const now = this.#ticks()
    if (now - lane.moved > STALL) lane.stalled += now - lane.moved
    lane.moved = now
    const next = lane.waiting.shift()
    if (next !== undefined) next.go(lane.stalled - next.stalled)
    else if (lane.inFlight > 1) lane.inFlight--
    else this.#lanes.delete(account)
  }
}
