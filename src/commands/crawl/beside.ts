/** Names that wait beside a crawl of a list until their turn comes, so that the others go on meanwhile. */

import type { Pace, Places } from '../../crawl/pace.ts'
import type { Past } from '../../schedule/past.ts'
import type { Named } from './list.ts'

/** A name, where its visit goes, what was known of it, and how often it has had to wait. */
export type Held = { entry: Named; places: Places; past: Past; times: number }

type BesideOptions = {
  pace: Pick<Pace, 'wait' | 'take'>
  /** Milliseconds of a clock that is never set back. */
  ticks: () => number
  /** Told of a name that is not waited for: its turn is too far off, or did not hold too often. */
  onLeft(held: Held): void
}

/** Those who wait for one place first, in the order they came. `at`: when it is asked again whether the first may go. */
type Queue = { key: string; place: Places; waiting: Held[]; at: number }

const MOST = 20_000
/** Milliseconds: an address that asks to be left alone for longer is left for another crawl. */
const PATIENCE = 5 * 60_000
const MOST_TIMES = 20
/** Milliseconds between two looks at one queue, at least. */
const TICK = 1

export class Beside {
  readonly #options: BesideOptions
  readonly #queues = new Map<string, Queue>()
  readonly #order: Queue[] = [] // ascending by `at`
  #size = 0

  constructor(options: BesideOptions) {
    this.#options = options
  }

  get size(): number {
    return this.#size
  }

  /** There is no room: no other name of the list may be begun. */
  isFull(): boolean {
    return this.#size >= MOST
  }

  /** A name comes to those who wait for the place of its own that is free last. */
  add(held: Held): void {
    const { pace, onLeft } = this.#options
    const { key, place, wait } = busiest(pace, held.places)
    if (wait > PATIENCE || held.times > MOST_TIMES) {
      onLeft(held)
      return
    }
    const queue = this.#queues.get(key) ?? { key, place, waiting: [], at: 0 }
    queue.waiting.push(held)
    this.#size++
    if (queue.waiting.length > 1) return
    this.#queues.set(key, queue)
    this.#sort(queue, wait)
  }

  /** One whose turn has come, which is taken with it; null for none. */
  take(): Held | null {
    const { pace, ticks } = this.#options
    while (this.#order.length > 0 && this.#order[0]!.at <= ticks()) {
      const queue = this.#order.shift()!
      const held = queue.waiting[0]!
      const wait = pace.wait(held.places)
      if (wait === 0) {
        pace.take(held.places)
        this.#leave(queue)
        return held
      }
      if (wait <= PATIENCE && busiest(pace, held.places).key === queue.key) this.#sort(queue, wait)
      else {
        this.#leave(queue)
        this.add(held)
      }
    }
    return null
  }

  /** Milliseconds until `take` may have one; Infinity where nobody waits. */
  soonest(): number {
    const [first] = this.#order
    return first === undefined ? Number.POSITIVE_INFINITY : Math.max(0, first.at - this.#options.ticks())
  }

  #sort(queue: Queue, wait: number): void {
    queue.at = this.#options.ticks() + Math.max(wait, TICK)
    this.#order.splice(this.#order.findLastIndex((other) => other.at <= queue.at) + 1, 0, queue)
  }

  /** Takes the first out of a queue that is not in the order, and puts the others back into it. */
  #leave(queue: Queue): void {
    this.#size--
    queue.waiting.shift()
    if (queue.waiting.length === 0) this.#queues.delete(queue.key)
    else this.#sort(queue, this.#options.pace.wait(queue.place))
  }
}

/** Of the places of a visit the one that is free last. */
function busiest(pace: Pick<Pace, 'wait'>, { addresses = [], servers }: Places) {
  const places = addresses.map((address): [string, Places] => [address, { addresses: [address] }])
  if (servers !== undefined) places.push([servers, { servers }])
  const waits = places.map(([key, place]) => ({ key, place, wait: pace.wait(place) }))
  return waits.reduce((most, each) => (each.wait > most.wait ? each : most), { key: '', place: {}, wait: -1 })
}
