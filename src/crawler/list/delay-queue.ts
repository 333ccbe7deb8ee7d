/** Names that wait beside a crawl of a list until their turn comes, so that the others go on meanwhile. */

import type { PolitenessLimiter, RateLimitTargets } from '../../probe/policy/politeness-limiter.ts'
import type { PriorState } from '../anomaly/prior-state.ts'
import type { NameEntry } from './name-list.ts'

/** A name, where its visit goes, what was known of it, and how often it has had to wait. */
export type DelayedName = { entry: NameEntry; targets: RateLimitTargets; prior: PriorState; delays: number }

type DelayQueueOptions = {
  politeness: Pick<PolitenessLimiter, 'wait' | 'acquire'>
  /** Milliseconds of a clock that is never set back. */
  nowMs: () => number
  /** Told of a name that is not waited for: its turn is too far off, or did not hold too often. */
  onRejected(delayed: DelayedName): void
}

/** Those who wait for one place first, in the order they came. `at`: when it is asked again whether the first may go. */
type TargetQueue = { key: string; target: RateLimitTargets; names: DelayedName[]; nextCheckAt: number }

const MAX_DELAYED_NAMES = 20_000
/** Milliseconds: an address that asks to be left alone for longer is left for another crawl. */
const MAX_DELAY_MS = 5 * 60_000
const MAX_DELAYS_PER_NAME = 20
/** Milliseconds between two looks at one queue, at least. */
const MIN_CHECK_INTERVAL_MS = 1

export class DelayQueue {
  readonly #options: DelayQueueOptions
  readonly #queues = new Map<string, TargetQueue>()
  readonly #order: TargetQueue[] = [] // ascending by `at`
  #size = 0

  constructor(options: DelayQueueOptions) {
    this.#options = options
  }

  get size(): number {
    return this.#size
  }

  /** There is no room: no other name of the list may be begun. */
  isFull(): boolean {
    return this.#size >= MAX_DELAYED_NAMES
  }

  /** A name comes to those who wait for the place of its own that is free last. */
  add(delayed: DelayedName): void {
    const { politeness: limiter, onRejected: onLeft } = this.#options
    const { key, place, wait } = slowestTarget(limiter, delayed.targets)
    if (wait > MAX_DELAY_MS || delayed.delays > MAX_DELAYS_PER_NAME) {
      onLeft(delayed)
      return
    }
    const queue = this.#queues.get(key) ?? { key, target: place, names: [], nextCheckAt: 0 }
    queue.names.push(delayed)
    this.#size++
    if (queue.names.length > 1) return
    this.#queues.set(key, queue)
    this.#schedule(queue, wait)
  }

  /** One whose turn has come, which is taken with it; null for none. */
  take(): DelayedName | null {
    const { politeness: limiter, nowMs: ticks } = this.#options
    while (this.#order.length > 0 && this.#order[0]!.nextCheckAt <= ticks()) {
      const queue = this.#order.shift()!
      const delayed = queue.names[0]!
      const wait = limiter.wait(delayed.targets)
      if (wait === 0) {
        limiter.acquire(delayed.targets)
        this.#removeFirst(queue)
        return delayed
      }
      if (wait <= MAX_DELAY_MS && slowestTarget(limiter, delayed.targets).key === queue.key) this.#schedule(queue, wait)
      else {
        this.#removeFirst(queue)
        this.add(delayed)
      }
    }
    return null
  }

  /** Milliseconds until `take` may have one; Infinity where nobody waits. */
  nextReadyIn(): number {
    const [first] = this.#order
    return first === undefined ? Number.POSITIVE_INFINITY : Math.max(0, first.nextCheckAt - this.#options.nowMs())
  }

  #schedule(queue: TargetQueue, wait: number): void {
    queue.nextCheckAt = this.#options.nowMs() + Math.max(wait, MIN_CHECK_INTERVAL_MS)
    this.#order.splice(this.#order.findLastIndex((other) => other.nextCheckAt <= queue.nextCheckAt) + 1, 0, queue)
  }

  /** Takes the first out of a queue that is not in the order, and puts the others back into it. */
  #removeFirst(queue: TargetQueue): void {
    this.#size--
    queue.names.shift()
    if (queue.names.length === 0) this.#queues.delete(queue.key)
    else this.#schedule(queue, this.#options.politeness.wait(queue.target))
  }
}

/** Of the places of a visit the one that is free last. */
function slowestTarget(
  limiter: Pick<PolitenessLimiter, 'wait'>,
  { addresses = [], nameServers: servers }: RateLimitTargets,
) {
  const targets = addresses.map((address): [string, RateLimitTargets] => [address, { addresses: [address] }])
  if (servers !== undefined) targets.push([servers, { nameServers: servers }])
  const waits = targets.map(([key, place]) => ({ key, place, wait: limiter.wait(place) }))
  return waits.reduce((slowest, each) => (each.wait > slowest.wait ? each : slowest), { key: '', place: {}, wait: -1 })
}
