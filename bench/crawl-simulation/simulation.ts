/** The simulation: crawlers that are killed and restarted probe names over simulated days. */

import { join } from 'node:path'
import type { ProbeIntervals } from '../../src/apply/next-probe.ts'
import { CRAWL_TIMINGS, type CrawlTimings } from '../../src/crawler/continuous/crawler-dependencies.ts'
import { observe } from '../../src/observe/observe.ts'
import { ingest } from '../../src/store/ingest.ts'
import { openStore } from '../../src/store/open.ts'
import type { Store } from '../../src/store/port/store.ts'
import type { Instant } from '../../src/values/time.ts'
import { type RandomSource, randomInt, seededRandom } from '../world/random.ts'
import { VirtualClock } from './clock.ts'
import { type RunningCrawler, startCrawler } from './crawler.ts'
import { indexOfName, probeResultOf, simulatedNameAt } from './network.ts'
import { ProbeLog } from './probe-log.ts'

/** `maxLifetimeDays`: the maximum number of days until a crawler is killed. */
export type SimulationOptions = {
  names: number
  days: number
  crawlers: number
  rate: number
  intervals: ProbeIntervals
  maxLifetimeDays: number
  folder: string
  seed: number
}

/** `lags`: the lag histograms of all crawlers, added up. `kills`: the number of crawlers that were killed. */
export type SimulationResult = {
  log: ProbeLog
  neverProbed: number
  kills: number
  lags: number[]
  batches: { saved: number; discarded: number }
}

const START: Instant = 1_800_000_000
const DAY_MILLISECONDS = 86_400_000
const CHUNK = 10_000
/** The minimum and maximum duration of a probe. */
const PROBE_MILLISECONDS = { min: 50, max: 3_000 }
/** The maximum time until a killed crawler is replaced. */
const MAX_DOWN_MILLISECONDS = 600_000

/** Longer intervals than in production: at the usual ones, a simulated day would have 86,400 heartbeats. */
const SIMULATION_TIMINGS: CrawlTimings = {
  ...CRAWL_TIMINGS,
  pollMs: 600_000,
  heartbeatMs: 40_000,
  sweepSeconds: { min: 21_600, max: 21_600 },
}

export async function simulate(
  options: SimulationOptions,
  onDay: (day: number, probes: number) => void = () => {},
): Promise<SimulationResult> {
  const clock = new VirtualClock()
  const log = new ProbeLog(options.names)
  const url = `sqlite:${join(options.folder, 'simulation.db')}`
  const now = (): Instant => START + Math.floor(clock.monotonicMs() / 1000)
  const open = (): Promise<Store> => openStore(url, { access: 'write', ledger: 'own', secret: null, now })
  const stores = [await open()]
  await storeNames(stores[0]!, options.names)
  while (stores.length < options.crawlers) stores.push(await open())
  const result: SimulationResult = { log, neverProbed: 0, kills: 0, lags: [], batches: { saved: 0, discarded: 0 } }
  const stops = stores.map((store, number) => runHost({ options, clock, log, now, store, number, result }))
  try {
    for (let day = 1; day <= options.days; day++) {
      await clock.run(day * DAY_MILLISECONDS)
      onDay(day, log.probes)
    }
    result.neverProbed = log.close(clock.monotonicMs() / 1000)
    for (const stop of stops) stop()
    await clock.run(Number.POSITIVE_INFINITY)
  } finally {
    for (const store of stores) await store.close()
  }
  return result
}

/** Stores names that are known from a list and were never probed. */
async function storeNames(store: Store, names: number): Promise<void> {
  const at = START
  for (let from = 0; from < names; from += CHUNK) {
    const batch = Array.from({ length: Math.min(CHUNK, names - from) }, (_, index) =>
      observe({ domain: simulatedNameAt(from + index), at, dns: null, web: null }),
    )
    await ingest(store, batch)
  }
}

type SimulatedHost = {
  options: SimulationOptions
  clock: VirtualClock
  log: ProbeLog
  now: () => Instant
  store: Store
  number: number
  result: SimulationResult
}

/**
 * Starts a crawler, kills it at a random time and starts another in its place. Returns a function that kills it for
 * good.
 */
function runHost({ options, clock, log, now, store, number, result }: SimulatedHost): () => void {
  const random: RandomSource = seededRandom(options.seed, number, 1)
  let generation = 0
  let running: RunningCrawler | null = null
  let isOver = false
  const start = (): void => {
    const holder = `crawler ${number}, ${++generation}`
    running = startCrawler({
      holder,
      store,
      clock,
      random,
      timings: SIMULATION_TIMINGS,
      rate: options.rate,
      overrides: { intervals: options.intervals },
      async probe(name) {
        const at = now()
        log.begin(indexOfName(name), holder, clock.monotonicMs() / 1000)
        await clock.wait(PROBE_MILLISECONDS.min + randomInt(random, PROBE_MILLISECONDS.max - PROBE_MILLISECONDS.min))
        log.end(indexOfName(name), holder)
        return probeResultOf(name, at, randomInt(random, 1_000_000))
      },
    })
    void clock.wait(random() * options.maxLifetimeDays * DAY_MILLISECONDS).then(() => kill(holder))
  }
  const kill = (holder: string): void => {
    if (running === null) return
    running.process.kill()
    log.removeCrawler(holder)
    addStats(result, running)
    running = null
    if (isOver) return
    result.kills++
    void clock.wait(randomInt(random, MAX_DOWN_MILLISECONDS)).then(start)
  }
  start()
  return () => {
    isOver = true
    kill('')
  }
}

function addStats(result: SimulationResult, { stats }: RunningCrawler): void {
  result.lags = stats.lags.map((count, bucket) => count + (result.lags[bucket] ?? 0))
  result.batches.saved += stats.batches.saved
  result.batches.discarded += stats.batches.discarded
}
