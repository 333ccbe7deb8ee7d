/** The state of a continuous crawl that outlives its sessions. */

import { LruMap } from '../../probe/lru-map.ts'
import { FULL_CYCLE_SECONDS } from '../../probe/policy/politeness-limiter.ts'
import type { Lease } from '../../store/port/schedule.ts'
import type { DomainName } from '../../values/domain-name.ts'

export type CrawlMemory = {
  /** Requested names that cannot be probed now: until when they are skipped, in milliseconds. */
  backedOff: LruMap<DomainName, number>
  /** Lookup requests without a probe: since when, and the latest attempt, in milliseconds. */
  lookupRequests: LruMap<DomainName, { since: number; latest: number }>
  /** How often in a row each name could not be probed. */
  failuresInRow: LruMap<DomainName, number>
  /** Leases that could not be released. */
  unreleasedLeases: Lease[]
  nameServerCounts: NameServerCounts
  /** The place in a list up to which the next sweep of a range admits names. Ranges without such names have none. */
  placeLimits: Map<number, number>
}

/** The number of remembered sets, the most recently used. */
const MAX_NAME_SERVER_SETS = 50_000
const CYCLE_MS = FULL_CYCLE_SECONDS * 1000
/** The number of remembered names. */
const MAX_BACKED_OFF_NAMES = 10_000
const MAX_FAILING_NAMES = 100_000

export function createCrawlMemory(): CrawlMemory {
  return {
    backedOff: new LruMap(MAX_BACKED_OFF_NAMES),
    lookupRequests: new LruMap(MAX_BACKED_OFF_NAMES),
    failuresInRow: new LruMap(MAX_FAILING_NAMES),
    unreleasedLeases: [],
    nameServerCounts: new NameServerCounts(),
    placeLimits: new Map(),
  }
}

/**
 * Counts names per set of name servers, which the store does not count. Bounded. A count is halved after each cycle.
 */
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
