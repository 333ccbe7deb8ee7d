/** The memory of a crawl: what outlasts its spans. */

import { LruMap } from '../probe/lru-map.ts'
import type { Lease } from '../store/port/schedule.ts'
import type { DomainName } from '../values/domain-name.ts'
import { type AnomalyState, INITIAL_ANOMALY_STATE } from './anomaly/anomaly-detector.ts'
import type { CrawlerDependencies } from './dependencies.ts'
import { NameServerCounts } from './queue/name-server-counts.ts'
import { createProbeRateLimit, type ProbeRateLimit } from './queue/probe-rate-limit.ts'

export type CrawlMemory = {
  rate: ProbeRateLimit
  /** Names that are being visited, whichever span wanted that. */
  inFlight: Set<DomainName>
  /** Wanted names that cannot be visited now: until when they are passed over, in milliseconds. */
  backedOff: LruMap<DomainName, number>
  /** Since when names that a caller asked for are wanted in vain, and when they last were, in milliseconds. */
  lookupRequests: LruMap<DomainName, { since: number; latest: number }>
  /** How often in a row names could not be looked at. */
  failuresInRow: LruMap<DomainName, number>
  /** Leases that could not be given back. */
  unreleasedLeases: Lease[]
  anomalyState: AnomalyState
  nameServerCounts: NameServerCounts
}

/** How many names are remembered. */
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
