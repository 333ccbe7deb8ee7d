/** How many names were met at sets of name servers: nobody else counts them. Bounded, and half of a count is forgotten after a round. */

import { LruMap } from '../../probe/lru-map.ts'
import { FULL_CYCLE_SECONDS } from '../../probe/policy/politeness-limiter.ts'

/** Sets that are remembered, those met last. */
const MAX_NAME_SERVER_SETS = 50_000
const CYCLE_MS = FULL_CYCLE_SECONDS * 1000

export class NameServerCounts {
  readonly #byServers = new LruMap<string, { count: number; since: number }>(MAX_NAME_SERVER_SETS)

  /** One more name was met there; how many were. `servers` as of the pace, `now` in milliseconds of a clock that is never set. */
  add(nameServers: string, now: number): number {
    const { count, since } = this.#byServers.get(nameServers) ?? { count: 0, since: now }
    const isOver = now - since >= CYCLE_MS
    const total = (isOver ? Math.ceil(count / 2) : count) + 1
    this.#byServers.set(nameServers, { count: total, since: isOver ? now : since })
    return total
  }
}
