/** The simulation: crawlers that are killed and come back, over days that pass in minutes, and what they visit. */

import { join } from 'node:path'
import type { ProbeIntervals } from '../../src/apply/next-probe.ts'
import { CRAWL_TIMINGS, type CrawlTimings } from '../../src/crawler/dependencies.ts'
import { observe } from '../../src/observe/observe.ts'
import { ingest } from '../../src/store/ingest.ts'
import { openStore } from '../../src/store/open.ts'
import type { Store } from '../../src/store/port/store.ts'
import type { Instant } from '../../src/values/time.ts'
import { below, type Dice, diceOf } from '../world/random.ts'
import { VirtualClock } from './clock.ts'
import { type Running, startCrawler } from './crawler.ts'
import { Logbook } from './logbook.ts'
import { indexOf, nameOf, visitOf } from './network.ts'

/** `life`: days that a crawler lives at most. */
export type World = {
  names: number
  days: number
  crawlers: number
  rate: number
  rhythm: ProbeIntervals
  life: number
  folder: string
  seed: number
}

/** `lags`: of every crawler that lived, added up. `kills`: crawlers that died. */
export type Result = {
  logbook: Logbook
  never: number
  kills: number
  lags: number[]
  slices: { saved: number; thrown: number }
}

const BEGIN: Instant = 1_800_000_000
const DAY_MILLISECONDS = 86_400_000
const CHUNK = 10_000
/** Milliseconds of a visit, at least and at most. */
const VISIT = { least: 50, most: 3_000 }
/** Milliseconds that a crawler is away at most. */
const AWAY = 600_000

/** What runs every few seconds on a real clock runs seldom here: a day has 86,400 of them. */
const SELDOM: CrawlTimings = {
  ...CRAWL_TIMINGS,
  pollMs: 600_000,
  heartbeatMs: 40_000,
  sweepSeconds: { min: 21_600, max: 21_600 },
}

export async function simulate(world: World, onDay: (day: number, visits: number) => void = () => {}): Promise<Result> {
  const clock = new VirtualClock()
  const logbook = new Logbook(world.names)
  const url = `sqlite:${join(world.folder, 'simulation.db')}`
  const now = (): Instant => BEGIN + Math.floor(clock.monotonicMs() / 1000)
  const open = (): Promise<Store> => openStore(url, { access: 'write', ledger: 'own', secret: null, now })
  const stores = [await open()]
  await makeNames(stores[0]!, world.names)
  while (stores.length < world.crawlers) stores.push(await open())
  const result: Result = { logbook, never: 0, kills: 0, lags: [], slices: { saved: 0, thrown: 0 } }
  const places = stores.map((store, place) => keepAlive({ world, clock, logbook, now, store, place, result }))
  try {
    for (let day = 1; day <= world.days; day++) {
      await clock.run(day * DAY_MILLISECONDS)
      onDay(day, logbook.visits)
    }
    result.never = logbook.close(clock.monotonicMs() / 1000)
    for (const end of places) end()
    await clock.run(Number.POSITIVE_INFINITY)
  } finally {
    for (const store of stores) await store.close()
  }
  return result
}

/** Names that are known from a list, and were never visited. */
async function makeNames(store: Store, names: number): Promise<void> {
  const at = BEGIN
  for (let from = 0; from < names; from += CHUNK) {
    const batch = Array.from({ length: Math.min(CHUNK, names - from) }, (_, index) =>
      observe({ domain: nameOf(from + index), at, dns: null, web: null }),
    )
    await ingest(store, batch)
  }
}

type Place = {
  world: World
  clock: VirtualClock
  logbook: Logbook
  now: () => Instant
  store: Store
  place: number
  result: Result
}

/** Starts a crawler, kills it at some moment, and starts another one in its place. Returns what kills it for good. */
function keepAlive({ world, clock, logbook, now, store, place, result }: Place): () => void {
  const dice: Dice = diceOf(world.seed, place, 1)
  let born = 0
  let running: Running | null = null
  let isOver = false
  const start = (): void => {
    const holder = `crawler ${place}, ${++born}`
    running = startCrawler({
      holder,
      store,
      clock,
      random: dice,
      times: SELDOM,
      rate: world.rate,
      other: { intervals: world.rhythm },
      async visit(name) {
        const at = now()
        logbook.begin(indexOf(name), holder, clock.monotonicMs() / 1000)
        await clock.wait(VISIT.least + below(dice, VISIT.most - VISIT.least))
        logbook.end(indexOf(name), holder)
        return visitOf(name, at, below(dice, 1_000_000))
      },
    })
    void clock.wait(dice() * world.life * DAY_MILLISECONDS).then(() => end(holder))
  }
  const end = (holder: string): void => {
    if (running === null) return
    running.life.kill()
    logbook.bury(holder)
    add(result, running)
    running = null
    if (isOver) return
    result.kills++
    void clock.wait(below(dice, AWAY)).then(start)
  }
  start()
  return () => {
    isOver = true
    end('')
  }
}

function add(result: Result, { figures }: Running): void {
  result.lags = figures.lags.map((count, place) => count + (result.lags[place] ?? 0))
  result.slices.saved += figures.batches.saved
  result.slices.thrown += figures.batches.discarded
}
