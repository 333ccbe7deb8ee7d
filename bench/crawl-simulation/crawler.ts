/** A crawler of the simulation: the real loop over a real store, with a clock and a network that are made up. */

import { DEFAULT_PROBE_INTERVALS } from '../../src/apply/next-probe.ts'
import type { CrawlerDependencies, CrawlTimings } from '../../src/crawler/dependencies.ts'
import { DEFAULT_SHARES } from '../../src/crawler/queue/kind-selector.ts'
import { runCrawlScheduler } from '../../src/crawler/scheduler.ts'
import { CrawlStats } from '../../src/crawler/status/stats.ts'
import { makePolitenessLimiter } from '../../src/probe/policy/politeness-limiter.ts'
import type { ProbeResult } from '../../src/probe/probe-result.ts'
import type { Store } from '../../src/store/port/store.ts'
import type { DomainName } from '../../src/values/domain-name.ts'
import type { Dice } from '../world/random.ts'
import type { VirtualClock } from './clock.ts'
import { Life } from './life.ts'

export type Running = {
  life: Life
  figures: CrawlStats
  /** Asks it to end in order. */
  stop(): void
  /** Resolves when it has ended in order; never, where it was killed. */
  ended: Promise<void>
}

export type CrawlerOptions = {
  holder: string
  store: Store
  clock: VirtualClock
  random: Dice
  times: CrawlTimings
  rate: number | null
  visit: (name: DomainName, holder: string) => Promise<ProbeResult>
  endsAt?: number
  /** What is not as usual. */
  other?: Partial<CrawlerDependencies>
}

export function startCrawler(options: CrawlerOptions): Running {
  const { holder, store, clock, random, times, rate, visit, endsAt, other } = options
  const life = new Life(endsAt)
  const figures = new CrawlStats()
  const stop = new AbortController()
  const crawl: CrawlerDependencies = {
    store: life.of(store),
    holder,
    probe: (name) => life.live(() => visit(name, holder)),
    politeness: makePolitenessLimiter({ nowMs: () => clock.monotonicMs() }),
    optOut: { hasName: () => false },
    isOwn: () => false,
    runSelfCheck: async () => ({ passed: true }),
    intervals: DEFAULT_PROBE_INTERVALS,
    shares: DEFAULT_SHARES,
    rate,
    parallel: 256,
    timings: times,
    clock: {
      monotonicMs: () => clock.monotonicMs(),
      wait: (milliseconds, signal) => life.live(() => clock.wait(milliseconds, signal)),
    },
    random,
    stats: figures,
    onFault(error) {
      throw error
    },
    log() {},
    ...other,
  }
  return { life, figures, stop: () => stop.abort(), ended: runCrawlScheduler(crawl, stop.signal) }
}
