/** What a crawl is made of: everything that its loop is given. */

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

/** What the control questions came to; `why` is a sentence. */
export type SelfCheckOutcome = { passed: true } | { passed: false; reason: string }

/** Looks and beats, in milliseconds; sweeps in seconds. */
export type CrawlTimings = {
  /** Between two looks for wishes, and for ranges where none was due. */
  pollMs: number
  /** Between two beats. */
  heartbeatMs: number
  /** What a visit brought waits for so long for others to be trusted and saved with, and control questions are asked as often. */
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
  /** Who this crawler is: no other one has the same. */
  holder: string
  /** `turns`: addresses where it has its turn already. */
  probe(name: DomainName, granted?: readonly IpAddress[]): Promise<ProbeResult>
  politeness: PolitenessLimiter
  /** Whether the owner of a name wants no visits; asked each time. */
  optOut: { hasName(name: DomainName): boolean }
  /** Whether an address is the operator's own, where nobody has to wait. */
  isOwn(address: IpAddress): boolean
  /** Why the disk of the store has too little room, a sentence; null if it has enough. */
  diskShortage?(): Promise<string | null>
  /** Asks the control questions. */
  runSelfCheck(): Promise<SelfCheckOutcome>
  intervals: ProbeIntervals
  shares: KindShares
  /** Visits a second of all crawlers of the installation; null for as many as may be. */
  rate: number | null
  /** Visits in flight at once, at most. */
  parallel: number
  timings: CrawlTimings
  clock: CrawlClock
  /** From 0 to below 1. */
  random(): number
  stats: CrawlStats
  /** A fault of the program or of the store; the crawl goes on. */
  onFault(error: unknown): void
  /** What an operator is to be told. */
  log(message: string): void
}
