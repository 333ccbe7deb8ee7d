/**
 * Counts names per set of name servers, which the store does not count. Bounded. A count is halved after each cycle.
 */

import { LruMap } from '../../probe/lru-map.ts'
import { FULL_CYCLE_SECONDS } from '../../probe/policy/politeness-limiter.ts'

/** The number of remembered sets, the most recently used. */
const MAX_NAME_SERVER_SETS = 50_000
const CYCLE_MS = FULL_CYCLE_SECONDS * 1000

export class NameServerCounts {
  readonly #byServers = new LruMap<string, { count: number; since: number }>(MAX_NAME_SERVER_SETS)

  /**
   * Adds one name to a set and returns its count. `nameServers`: in the form of the politeness limiter; `now`:
   * milliseconds of a monotonic clock.
   */
  add(nameServers: string, now: number): number {
    const { count, since } = this.#byServers.get(nameServers) ?? { count: 0, since: now }
    const isOver = now - since >= CYCLE_MS
    const total = (isOver ? Math.ceil(count / 2) : count) + 1
    this.#byServers.set(nameServers, { count: total, since: isOver ? now : since })
    return total
  }
}
