/** The dependencies of a continuous crawl. */

import type { ProbeIntervals } from '../apply/next-probe.ts'
import type { PolitenessLimiter } from '../probe/policy/politeness-limiter.ts'
import type { ProbeResult } from '../probe/probe-result.ts'
import type { Store } from '../store/port/store.ts'
import type { DomainName } from '../values/domain-name.ts'
import type { IpAddress } from '../values/ip-address.ts'
import type { CrawlClock } from './notifier.ts'
import type { SweepInterval } from './queue/held-range.ts'
import type { KindShares } from './queue/kind-selector.ts'
import type { CrawlStats } from './status/stats.ts'

/** The outcome of the self-check. `reason` is a sentence. */
export type SelfCheckOutcome = { passed: true } | { passed: false; reason: string }

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
  batchMs: 30_000,
  sweepSeconds: { min: 0, max: 60 },
}

export type CrawlerDependencies = {
  store: Pick<Store, 'observations' | 'schedule' | 'crawlRequests' | 'now'>
  /** The unique ID of this crawler. */
  holder: string
  /** `granted`: addresses at which the rate limiter already granted the probe. */
  probe(name: DomainName, granted?: readonly IpAddress[]): Promise<ProbeResult>
  politeness: PolitenessLimiter
  /** Whether the owner of a name opted out. Called each time. */
  optOut: { hasName(name: DomainName): boolean }
  /** Whether an address is the operator's own, without rate limits. */
  isOwn(address: IpAddress): boolean
  /** Describes the shortage of disk space of the store in a sentence. Returns null if there is enough. */
  diskShortage?(): Promise<string | null>
  runSelfCheck(): Promise<SelfCheckOutcome>
  intervals: ProbeIntervals
  shares: KindShares
  /** Probes per second of all crawlers of the installation. Null for no limit. */
  rate: number | null
  /** Maximum of probes in flight. */
  parallel: number
  timings: CrawlTimings
  clock: CrawlClock
  /** From 0 to below 1. */
  random(): number
  stats: CrawlStats
  /** A program or store error. The crawl continues. */
  onFault(error: unknown): void
  /** Logs a message for the operator. */
  log(message: string): void
}
