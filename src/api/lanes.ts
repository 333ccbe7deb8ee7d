/** The lanes: how many calls of one account are in flight at once in this process; the rest wait in their order. */

import { overloaded } from './errors.ts'

/** Calls of one account that are in flight at once. */
const IN_FLIGHT = 8
/** Calls of one account that wait behind them. */
const WAITING = 1_000

type Lane = { inFlight: number; waiting: (() => void)[] }

export class Lanes {
  readonly #lanes = new Map<number, Lane>()

  /** Null where the call may go on at once, otherwise what it waits for. Throws where too many wait already. */
  enter(account: number): Promise<void> | null {
    const lane = this.#lanes.get(account)
    if (lane === undefined) this.#lanes.set(account, { inFlight: 1, waiting: [] })
    else if (lane.inFlight < IN_FLIGHT) lane.inFlight++
    else if (lane.waiting.length >= WAITING) throw overloaded('Too many calls of this account are under way.')
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
