/** The dependencies of a continuous crawl. */

import type { ProbeIntervals } from '../../apply/next-probe.ts'
import type { PolitenessLimiter } from '../../probe/policy/politeness-limiter.ts'
import type { Store } from '../../store/port/store.ts'
import type { DomainName } from '../../values/domain-name.ts'
import type { IpAddress } from '../../values/ip-address.ts'
import type { SchedulerDependencies } from '../session.ts'
import { BATCH_DELAY_MS } from '../verified-batches.ts'
import type { LeasedCandidate, SweepInterval } from './held-range.ts'

/** In milliseconds, except for sweeps in seconds. */
export type CrawlTimings = {
  /** Between two polls for crawl requests, and for due ranges if none was due. */
  pollMs: number
  /** Between two heartbeats. */
  heartbeatMs: number
  /** How long results wait to be verified and saved as one batch. The self-check runs at this interval as well. */
  batchMs: number
  sweepSeconds: SweepInterval
}

export const CRAWL_TIMINGS: CrawlTimings = {
  pollMs: 2_000,
  heartbeatMs: 15_000,
  batchMs: BATCH_DELAY_MS,
  sweepSeconds: { min: 0, max: 60 },
}

type SharedDependencies = Pick<
  SchedulerDependencies<LeasedCandidate>,
  'probe' | 'diskShortage' | 'runSelfCheck' | 'shares' | 'parallel' | 'clock' | 'stats' | 'log' | 'revealedBy'
>

export type CrawlerDependencies = SharedDependencies & {
  store: Pick<Store, 'observations' | 'schedule' | 'crawlRequests' | 'now'>
  /** The unique ID of this crawler. */
  holder: string
  politeness: PolitenessLimiter
  /** Whether the owner of a name opted out. Called each time. */
  optOut: { hasName(name: DomainName): boolean }
  /** Whether an address is the operator's own, without rate limits. */
  isOwn(address: IpAddress): boolean
  intervals: ProbeIntervals
  /** Probes per second of all crawlers of the installation. Null for no limit. */
  rate: number | null
  timings: CrawlTimings
  /** From 0 to below 1. */
  random(): number
  /** A program or store error. The crawl continues. */
  onFault(error: unknown): void
}
