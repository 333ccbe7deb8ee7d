/** The state of a continuous crawl that outlives its sessions. */

import { LruMap } from '../../probe/lru-map.ts'
import type { Lease } from '../../store/port/schedule.ts'
import type { DomainName } from '../../values/domain-name.ts'
import { NameServerCounts } from './name-server-counts.ts'

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
}

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
  }
}
