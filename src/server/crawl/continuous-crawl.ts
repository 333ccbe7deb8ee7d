/** The continuous crawl: opens the store, the probe system and the admin listener, and closes them in order. */

import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import type { Logger } from 'pino'
import { probeIntervalsOf } from '../../config/probe-intervals.ts'
import type { Settings } from '../../config/settings.ts'
import { crawlContinuously } from '../../crawler/continuous/continuous-crawl.ts'
import { CRAWL_TIMINGS, type CrawlerDependencies } from '../../crawler/continuous/crawler-dependencies.ts'
import { discoveryOf } from '../../crawler/discovery.ts'
import { openProbeSystem } from '../../crawler/probe-system.ts'
import { CrawlStats } from '../../crawler/status/stats.ts'
import type { DnsServer } from '../../probe/dns/server.ts'
import type { AddressRange } from '../../probe/guard.ts'
import { openStore } from '../../store/open.ts'
import type { Store } from '../../store/port/store.ts'
import { diskSpaceOf } from '../disk-space.ts'
import { logClock } from '../processes/clock-check.ts'
import { monitorStore, type StoreMonitor } from '../processes/store-monitor.ts'
import { SYSTEM_CLOCK } from '../system-clock.ts'
import { openCrawlAdmin, requireDistinctListeners } from './admin.ts'
import { crawlAccessOf, openConfiguredOptOut, resolverWarning, selfCheckPlanOf } from './crawl-access.ts'
import { crawlMetrics } from './metrics.ts'

/** The command-line options. */
export type ContinuousCrawlOptions = {
  resolver: readonly DnsServer[]
  allow: readonly AddressRange[]
  parallel: number
}

/** Throws CommandFault if a continuous crawl could not start with these settings. */
export function checkCrawlSettings(settings: Settings, { resolver, allow }: ContinuousCrawlOptions): void {
  probeIntervalsOf(settings)
  crawlAccessOf(settings, resolver, allow)
  openConfiguredOptOut(settings, () => {}).close()
  requireDistinctListeners(settings)
}

/** Crawls until the signal. Throws CommandFault or StoreFault if it cannot start. */
export async function runContinuousCrawl(
  settings: Settings,
  { resolver, allow, parallel }: ContinuousCrawlOptions,
  log: Logger,
  signal: AbortSignal,
): Promise<void> {
  const { secret, pool, crawlShares, crawlRate, crawlDiscover } = settings
  const intervals = probeIntervalsOf(settings)
  const optOut = openConfiguredOptOut(settings, (message) => log.error(message))
  const access = crawlAccessOf(settings, resolver, allow, optOut.hasAddress)
  warnOfResolvers(access.servers, log)
  const holder = `${hostname()} ${process.pid} ${randomUUID().slice(0, 8)}`
  const stats = new CrawlStats()
  await using disposables = new AsyncDisposableStack()
  disposables.defer(() => optOut.close())
  const store = await openStore(settings.store, { access: 'write', ledger: 'own', secret, pool })
  disposables.defer(() => store.close())
  const serverClock = await monitorClock(store, log)
  disposables.defer(() => serverClock.close())
  const warn = (message: string): void => log.warn(message)
  const rules = { ...access, plan: selfCheckPlanOf(settings), optOut }
  const probeSystem = await openProbeSystem({ ...rules, now: serverClock.now, log: warn })
  disposables.defer(() => probeSystem.close())
  const readMetrics = crawlMetrics(store, stats, SYSTEM_CLOCK.monotonicMs, probeSystem)
  const notReadyReason = (): string | null => serverClock.clock.fault ?? stats.notReadyReason
  const admin = await openCrawlAdmin(settings.crawlAdmin, readMetrics, notReadyReason)
  disposables.defer(() => admin.close())
  log.info({ holder, admin: admin.port }, 'crawl started')
  const { probe, isOwn, runSelfCheck, politeness } = probeSystem
  const diskSpace = diskSpaceOf(settings, [], () => {})
  const dependencies: CrawlerDependencies = {
    ...{ store, holder, stats, optOut, intervals, shares: crawlShares, rate: crawlRate, parallel, log: warn },
    ...{ probe, isOwn, runSelfCheck, politeness, ...discoveryOf(crawlDiscover, optOut) },
    ...{ clock: SYSTEM_CLOCK, timings: CRAWL_TIMINGS, random: Math.random },
    diskShortage: () => diskSpace.shortage(),
    onFault: (err) => log.error({ err }, 'crawl error'),
  }
  await crawlContinuously(dependencies, signal)
  log.info('crawl stopped')
}

function warnOfResolvers(servers: readonly DnsServer[], log: Logger): void {
  const warning = resolverWarning(servers)
  if (warning !== null) log.warn(warning)
}

/** Follows the clock of the store. Other faults of the store pause the crawl by themselves. */
function monitorClock({ now }: Pick<Store, 'now'>, log: Logger): Promise<StoreMonitor> {
  const ignoreHealth = (): void => {}
  return monitorStore({ now, probe: async () => {} }, ignoreHealth, (report) => logClock(log, report))
}
