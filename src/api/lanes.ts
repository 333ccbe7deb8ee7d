/** The lanes: how many calls of one account, or downloads, are in flight at once in this process; the rest wait in their order. */

import { overloaded } from './errors.ts'

/** Of one account: how many are in flight at once, and how many wait behind them. */
type Width = { inFlight: number; waiting: number }

const CALLS: Width = { inFlight: 8, waiting: 1_000 }
/** A download takes its time, so that one that has to wait is better told. */
export const DOWNLOADS: Width = { inFlight: 64, waiting: 0 }

type Lane = { inFlight: number; waiting: (() => void)[] }

export class Lanes {
  readonly #lanes = new Map<number, Lane>()
  readonly #width: Width

  constructor(width = CALLS) {
    this.#width = width
  }

  /** Null where the call may go on at once, otherwise what it waits for. Throws where too many wait already. */
  enter(account: number): Promise<void> | null {
    const lane = this.#lanes.get(account)
    if (lane === undefined) this.#lanes.set(account, { inFlight: 1, waiting: [] })
    else if (lane.inFlight < this.#width.inFlight) lane.inFlight++
    else if (lane.waiting.length >= this.#width.waiting)
      throw overloaded('Too many calls of this account are under way.')
    else return new Promise((resolve) => lane.waiting.push(resolve))
    return null
  }

  /** Ends a call that entered; the one that waits longest takes its place. */
  leave(account: number): void {
    const lane = this.#lanes.get(account)
    if (lane === undefined) return
    const next = lane.waiting.shift()
    if (next !== undefined) next()
    else if (lane.inFlight > 1) lane.inFlight--
    else this.#lanes.delete(account)
  }
}
