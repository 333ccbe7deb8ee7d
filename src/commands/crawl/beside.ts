/** Names that wait beside a crawl of a list until their turn comes, so that the others go on meanwhile. */

import type { Pace, Places } from '../../crawl/pace.ts'
import type { Named } from './list.ts'

/** A name, where its visit goes, and how often it has had to wait. */
export type Held = { entry: Named; places: Places; times: number }

export type Beside = {
  readonly size: number
  /** There is no room: no other name of the list may be begun. */
  isFull(): boolean
  add(held: Held): void
  /** One whose turn has come, which is taken with it; null for none. */
  take(): Held | null
  /** Milliseconds until `take` may have one; Infinity where nobody waits. */
  soonest(): number
}

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

export function makeBeside({ pace, ticks, onLeft }: BesideOptions): Beside {
  const queues = new Map<string, Queue>()
  const order: Queue[] = [] // ascending by `at`
  let size = 0

  const sort = (queue: Queue, wait: number): void => {
    queue.at = ticks() + Math.max(wait, TICK)
    order.splice(order.findLastIndex((other) => other.at <= queue.at) + 1, 0, queue)
  }

  /** Puts a name to those who wait for the place of its own that is free last. */
  const put = (held: Held): void => {
    const { key, place, wait } = busiest(pace, held.places)
    if (wait > PATIENCE || held.times > MOST_TIMES) {
      onLeft(held)
      return
    }
    const queue = queues.get(key) ?? { key, place, waiting: [], at: 0 }
    queue.waiting.push(held)
    size++
    if (queue.waiting.length > 1) return
    queues.set(key, queue)
    sort(queue, wait)
  }

  /** Takes the first out of a queue that is not in the order, and puts the others back into it. */
  const leave = (queue: Queue): void => {
    size--
    queue.waiting.shift()
    if (queue.waiting.length === 0) queues.delete(queue.key)
    else sort(queue, pace.wait(queue.place))
  }

  return {
    get size() {
      return size
    },
    isFull: () => size >= MOST,
    add: put,
    take() {
      while (order.length > 0 && order[0]!.at <= ticks()) {
        const queue = order.shift()!
        const held = queue.waiting[0]!
        const wait = pace.wait(held.places)
        if (wait === 0) {
          pace.take(held.places)
          leave(queue)
          return held
        }
        if (wait <= PATIENCE && busiest(pace, held.places).key === queue.key) sort(queue, wait)
        else {
          leave(queue)
          put(held)
        }
      }
      return null
    },
    soonest: () => (order.length === 0 ? Number.POSITIVE_INFINITY : Math.max(0, order[0]!.at - ticks())),
  }
}

/** Of the places of a visit the one that is free last. */
function busiest(pace: Pick<Pace, 'wait'>, { addresses = [], servers }: Places) {
  const places = addresses.map((address): [string, Places] => [address, { addresses: [address] }])
  if (servers !== undefined) places.push([servers, { servers }])
  const waits = places.map(([key, place]) => ({ key, place, wait: pace.wait(place) }))
  return waits.reduce((most, each) => (each.wait > most.wait ? each : most), { key: '', place: {}, wait: -1 })
}
