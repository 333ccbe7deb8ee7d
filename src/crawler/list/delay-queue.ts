/** The delay queue of a list crawl: names that wait for their rate limit while other names are probed. */

import type { Observation } from '../../observe/observation.ts'
import type { PolitenessLimiter, RateLimitTargets } from '../../probe/policy/politeness-limiter.ts'
import type { IpAddress } from '../../values/ip-address.ts'
import { observedNameServers } from '../probe-targets.ts'

/** A name: the targets of its probe, and how often it was delayed. */
type DelayedName = { targets: RateLimitTargets; delays: number }

type DelayQueueOptions<D extends DelayedName> = {
  politeness: Pick<PolitenessLimiter, 'wait' | 'acquire'>
  /** Milliseconds of a monotonic clock. */
  nowMs: () => number
  /** Called for a name that is not delayed: its wait is too long, or it was delayed too often. */
  onRejected(delayed: D): void
}

/** The names that wait for one target, in order of arrival. `nextCheckAt`: when the first one is checked again. */
type TargetQueue<D> = { key: string; target: RateLimitTargets; names: D[]; nextCheckAt: number }

const MAX_DELAYED_NAMES = 20_000
/** Milliseconds. An address that requests a longer pause is left to a later crawl. */
const MAX_DELAY_MS = 5 * 60_000
const MAX_DELAYS_PER_NAME = 20
/** The minimum of milliseconds between two checks of one queue. */
const MIN_CHECK_INTERVAL_MS = 1
/** The maximum of addresses that a delayed name waits for. */
const MAX_DELAY_ADDRESSES = 4

export class DelayQueue<D extends DelayedName> {
  readonly #options: DelayQueueOptions<D>
  readonly #queues = new Map<string, TargetQueue<D>>()
  readonly #order: TargetQueue<D>[] = [] // ascending by `nextCheckAt`
  #size = 0

  constructor(options: DelayQueueOptions<D>) {
    this.#options = options
  }

  get size(): number {
    return this.#size
  }

  /** True if the queue is full. Then no other name of the list may start. */
  isFull(): boolean {
    return this.#size >= MAX_DELAYED_NAMES
  }

  /** Adds a name to the queue of its slowest target. */
  add(delayed: D): void {
    const { politeness, onRejected } = this.#options
    const { key, target, wait } = slowestTarget(politeness, delayed.targets)
    if (wait > MAX_DELAY_MS || delayed.delays > MAX_DELAYS_PER_NAME) {
      onRejected(delayed)
      return
    }
    const queue = this.#queues.get(key) ?? { key, target, names: [], nextCheckAt: 0 }
    queue.names.push(delayed)
    this.#size++
    if (queue.names.length > 1) return
    this.#queues.set(key, queue)
    this.#schedule(queue, wait)
  }

  /** Takes a name that may be probed now, and acquires its targets. Returns null if there is none. */
  take(): D | null {
    const { politeness, nowMs } = this.#options
    while (this.#order.length > 0 && this.#order[0]!.nextCheckAt <= nowMs()) {
      const queue = this.#order.shift()!
      const delayed = queue.names[0]!
      const wait = politeness.wait(delayed.targets)
      if (wait === 0) {
        politeness.acquire(delayed.targets)
        this.#removeFirst(queue)
        return delayed
      }
      if (wait <= MAX_DELAY_MS && slowestTarget(politeness, delayed.targets).key === queue.key)
        this.#schedule(queue, wait)
      else {
        this.#removeFirst(queue)
        this.add(delayed)
      }
    }
    return null
  }

  /** Milliseconds until `take` may return a name. Infinity if the queue is empty. */
  nextReadyIn(): number {
    const [first] = this.#order
    return first === undefined ? Number.POSITIVE_INFINITY : Math.max(0, first.nextCheckAt - this.#options.nowMs())
  }

  #schedule(queue: TargetQueue<D>, wait: number): void {
    queue.nextCheckAt = this.#options.nowMs() + Math.max(wait, MIN_CHECK_INTERVAL_MS)
    this.#order.splice(this.#order.findLastIndex((other) => other.nextCheckAt <= queue.nextCheckAt) + 1, 0, queue)
  }

  /** Removes the first name of a queue that is not in the order, and schedules the rest. */
  #removeFirst(queue: TargetQueue<D>): void {
    this.#size--
    queue.names.shift()
    if (queue.names.length === 0) this.#queues.delete(queue.key)
    else this.#schedule(queue, this.#options.politeness.wait(queue.target))
  }
}

/** The target with the longest wait. */
function slowestTarget(politeness: Pick<PolitenessLimiter, 'wait'>, { addresses = [], nameServers }: RateLimitTargets) {
  const targets = addresses.map((address): [string, RateLimitTargets] => [address, { addresses: [address] }])
  if (nameServers !== undefined) targets.push([nameServers, { nameServers }])
  const waits = targets.map(([key, target]) => ({ key, target, wait: politeness.wait(target) }))
  return waits.reduce((slowest, each) => (each.wait > slowest.wait ? each : slowest), { key: '', target: {}, wait: -1 })
}

/**
 * The targets that a name waits for after its probe was deferred at an address: that address and those of earlier
 * delays.
 */
export function targetsAfterDelay(
  previous: DelayedName,
  deferredAt: IpAddress,
  observation: Observation,
): RateLimitTargets {
  const addresses = new Set([...(previous.delays > 0 ? (previous.targets.addresses ?? []) : []), deferredAt])
  const nameServers = observedNameServers(observation) || previous.targets.nameServers
  const targets = { addresses: [...addresses].slice(-MAX_DELAY_ADDRESSES) }
  return nameServers === undefined ? targets : { ...targets, nameServers }
}
