/** A crawler of the simulation: the real loop over a real store, with a clock and a network that are made up. */

import { RHYTHM } from '../../src/apply/due.ts'
import { makePace } from '../../src/crawl/pace.ts'
import type { Visit } from '../../src/crawl/visit.ts'
import type { Crawl, Times } from '../../src/schedule/crawl.ts'
import { Figures } from '../../src/schedule/figures.ts'
import { crawlOn } from '../../src/schedule/loop.ts'
import { SHARES } from '../../src/schedule/turns.ts'
import type { Store } from '../../src/store/store.ts'
import type { Name } from '../../src/words/name.ts'
import type { Dice } from '../dice.ts'
import type { VirtualClock } from './clock.ts'
import { Life } from './life.ts'

export type Running = {
  life: Life
  figures: Figures
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
  times: Times
  rate: number | null
  visit: (name: Name, holder: string) => Promise<Visit>
  endsAt?: number
  /** What is not as usual. */
  other?: Partial<Crawl>
}

export function startCrawler(options: CrawlerOptions): Running {
  const { holder, store, clock, random, times, rate, visit, endsAt, other } = options
  const life = new Life(endsAt)
  const figures = new Figures()
  const stop = new AbortController()
  const crawl: Crawl = {
    store: life.of(store),
    holder,
    visit: (name) => life.live(() => visit(name, holder)),
    pace: makePace({ ticks: () => clock.ticks() }),
    optOut: { hasName: () => false },
    isOwn: () => false,
    look: async () => ({ sees: true }),
    rhythm: RHYTHM,
    shares: SHARES,
    rate,
    parallel: 256,
    times,
    clock: {
      ticks: () => clock.ticks(),
      wait: (milliseconds, signal) => life.live(() => clock.wait(milliseconds, signal)),
    },
    random,
    figures,
    onFault(error) {
      throw error
    },
    say() {},
    ...other,
  }
  return { life, figures, stop: () => stop.abort(), ended: crawlOn(crawl, stop.signal) }
}
