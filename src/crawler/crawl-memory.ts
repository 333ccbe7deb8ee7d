/** The state of a crawl that outlives its sessions. */

import { LruMap } from '../probe/lru-map.ts'
import type { Lease } from '../store/port/schedule.ts'
import type { DomainName } from '../values/domain-name.ts'
import { type AnomalyState, INITIAL_ANOMALY_STATE } from './anomaly/anomaly-detector.ts'
import type { CrawlerDependencies } from './dependencies.ts'
import { NameServerCounts } from './queue/name-server-counts.ts'
import { createProbeRateLimit, type ProbeRateLimit } from './queue/probe-rate-limit.ts'

export type CrawlMemory = {
  rate: ProbeRateLimit
  /** Names with a probe in flight, from any session. */
  inFlight: Set<DomainName>
  /** Requested names that cannot be probed now: until when they are skipped, in milliseconds. */
  backedOff: LruMap<DomainName, number>
  /** Lookup requests without a probe: since when, and the latest attempt, in milliseconds. */
  lookupRequests: LruMap<DomainName, { since: number; latest: number }>
  /** How often in a row each name could not be probed. */
  failuresInRow: LruMap<DomainName, number>
  /** Leases that could not be released. */
  unreleasedLeases: Lease[]
  anomalyState: AnomalyState
  nameServerCounts: NameServerCounts
}

/** The number of remembered names. */
const MAX_BACKED_OFF_NAMES = 10_000
const MAX_FAILING_NAMES = 100_000

export function createCrawlMemory({ rate }: Pick<CrawlerDependencies, 'rate'>): CrawlMemory {
  return {
    rate: createProbeRateLimit(rate),
    inFlight: new Set(),
    backedOff: new LruMap(MAX_BACKED_OFF_NAMES),
    lookupRequests: new LruMap(MAX_BACKED_OFF_NAMES),
    failuresInRow: new LruMap(MAX_FAILING_NAMES),
    unreleasedLeases: [],
    anomalyState: INITIAL_ANOMALY_STATE,
    nameServerCounts: new NameServerCounts(),
  }
}
