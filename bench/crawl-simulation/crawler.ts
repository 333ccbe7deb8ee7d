/** A crawler of the simulation: the real scheduler and a real store with a virtual clock and a simulated network. */

import { DEFAULT_PROBE_INTERVALS } from '../../src/apply/next-probe.ts'
import { crawlContinuously } from '../../src/crawler/continuous/continuous-crawl.ts'
import type { CrawlerDependencies, CrawlTimings } from '../../src/crawler/continuous/crawler-dependencies.ts'
import { DEFAULT_SHARES } from '../../src/crawler/queue/kind-selector.ts'
import { CrawlStats } from '../../src/crawler/status/stats.ts'
import { makePolitenessLimiter } from '../../src/probe/policy/politeness-limiter.ts'
import type { ProbeResult } from '../../src/probe/probe-result.ts'
import type { Store } from '../../src/store/port/store.ts'
import type { DomainName } from '../../src/values/domain-name.ts'
import type { RandomSource } from '../world/random.ts'
import type { VirtualClock } from './clock.ts'
import { SimulatedProcess } from './simulated-process.ts'

export type RunningCrawler = {
  process: SimulatedProcess
  stats: CrawlStats
  /** Asks the crawler to stop in an orderly way. */
  stop(): void
  /** Resolves when the crawler has stopped in an orderly way. Never resolves if the crawler was killed. */
  ended: Promise<void>
}

export type CrawlerOptions = {
  holder: string
  store: Store
  clock: VirtualClock
  random: RandomSource
  timings: CrawlTimings
  rate: number | null
  probe: (name: DomainName, holder: string) => Promise<ProbeResult>
  killAtPoint?: number
  /** Replaces some of the default dependencies. */
  overrides?: Partial<CrawlerDependencies>
}

export function startCrawler(options: CrawlerOptions): RunningCrawler {
  const { holder, store, clock, random, timings, rate, probe, killAtPoint, overrides } = options
  const simulatedProcess = new SimulatedProcess(killAtPoint)
  const stats = new CrawlStats()
  const stop = new AbortController()
  const dependencies: CrawlerDependencies = {
    store: simulatedProcess.wrap(store),
    holder,
    probe: (name) => simulatedProcess.run(() => probe(name, holder)),
    politeness: makePolitenessLimiter({ nowMs: () => clock.monotonicMs() }),
    optOut: { hasName: () => false },
    isOwn: () => false,
    runSelfCheck: async () => ({ passed: true }),
    intervals: DEFAULT_PROBE_INTERVALS,
    shares: DEFAULT_SHARES,
    rate,
    parallel: 256,
    timings,
    clock: {
      monotonicMs: () => clock.monotonicMs(),
      wait: (milliseconds, signal) => simulatedProcess.run(() => clock.wait(milliseconds, signal)),
    },
    random,
    stats,
    onFault(error) {
      throw error
    },
    log() {},
    ...overrides,
  }
  return {
    process: simulatedProcess,
    stats,
    stop: () => stop.abort(),
    ended: crawlContinuously(dependencies, stop.signal),
  }
}
