/** A crawl that goes on and on: a store, eyes and an admin listener, from the start to an end in order. */

import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import type { Logger } from 'pino'
import type { Settings } from '../../config.ts'
import type { Server } from '../../crawl/dns.ts'
import type { Range } from '../../crawl/guard.ts'
import { type Crawl, TIMES } from '../../schedule/crawl.ts'
import { Figures } from '../../schedule/figures.ts'
import { crawlOn } from '../../schedule/loop.ts'
import { openStore } from '../../store/open.ts'
import { CLOCK } from '../clock.ts'
import { rhythmOf } from '../rhythm.ts'
import { roomOf } from '../room.ts'
import { feelPulse } from '../serve/pulse.ts'
import { expectOwnPlace, openCrawlAdmin } from './admin.ts'
import { openEyes, optOutOf } from './eyes.ts'
import { metricsOf } from './metrics.ts'
import { adviceOn, planOf, reachOf } from './reach.ts'

/** What is typed, not set. */
export type LoopOptions = { resolver: readonly Server[]; allow: readonly Range[]; parallel: number }

/** Throws CommandFault where a crawl could not even begin beside a server. */
export function expectCrawl(settings: Settings, { resolver, allow }: LoopOptions): void {
  rhythmOf(settings)
  reachOf(settings, resolver, allow)
  optOutOf(settings, () => {}).close()
  expectOwnPlace(settings)
}

/** Crawls until the signal comes. Throws CommandFault and StoreFault where it cannot begin. */
export async function crawlForever(
  settings: Settings,
  { resolver, allow, parallel }: LoopOptions,
  log: Logger,
  signal: AbortSignal,
): Promise<void> {
  const { store: url, secret, pool, crawlShares: shares, crawlRate: rate } = settings
  const rhythm = rhythmOf(settings)
  const optOut = optOutOf(settings, (words) => log.error(words))
  const reach = reachOf(settings, resolver, allow, optOut.hasAddress)
  const advice = adviceOn(reach.servers)
  if (advice !== null) log.warn(advice)
  const holder = `${hostname()} ${process.pid} ${randomUUID().slice(0, 8)}`
  const figures = new Figures()
  await using ends = new AsyncDisposableStack()
  ends.defer(() => optOut.close())
  const store = await openStore(url, { access: 'write', ledger: 'own', secret, pool })
  ends.defer(() => store.close())
  const pulse = await feelPulse({ now: store.now, probe: async () => {} })
  ends.defer(() => pulse.close())
  const eyes = await openEyes({
    ...reach,
    plan: planOf(settings),
    optOut,
    now: pulse.now,
    say: (news) => log.warn(news),
  })
  ends.defer(() => eyes.close())
  const read = metricsOf(store, figures, CLOCK.ticks, eyes)
  const admin = await openCrawlAdmin(settings.crawlAdmin, read, figures)
  ends.defer(() => admin.close())
  log.info({ holder, admin: admin.port }, 'the crawl begins')
  const { visit, isOwn, look, pace } = eyes
  const room = roomOf(settings, [], () => {})
  const own = { holder, figures, parallel, clock: CLOCK, times: TIMES, random: Math.random, ...tellersOf(log) }
  const lack = (): Promise<string | null> => room.lack()
  await crawlOn({ store, visit, isOwn, look, lack, pace, optOut, rhythm, shares, rate, ...own }, signal)
  log.info('the crawl has ended')
}

function tellersOf(log: Logger): Pick<Crawl, 'onFault' | 'say'> {
  return {
    onFault: (err) => log.error({ err }, 'a crawl meets a fault'),
    say: (news) => log.warn(news),
  }
}
