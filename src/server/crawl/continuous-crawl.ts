/** The continuous crawl: opens the store, the probe system and the admin listener, and closes them in order. */

import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import { Counter, Gauge, Registry } from 'prom-client'
import { loadPlanLimits } from '../../config/plan-limits.ts'
import { probeIntervalsOf } from '../../config/probe-intervals.ts'
import type { Settings } from '../../config/settings.ts'
import { crawlContinuously } from '../../crawler/continuous/continuous-crawl.ts'
import { CRAWL_TIMINGS, type CrawlerDependencies } from '../../crawler/continuous/crawler-dependencies.ts'
import { discoveryOf } from '../../crawler/discovery.ts'
import { openProbeSystem, type ProbeSystem } from '../../crawler/probe-system.ts'
import { type Quantiles, quantiles } from '../../crawler/status/quantiles.ts'
import { CrawlStats, LAG_BOUNDS_SECONDS, PAUSE_REASONS } from '../../crawler/status/stats.ts'
import { type CrawlStatus, readCrawlStatus } from '../../crawler/status/status.ts'
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
import { keepWatchedNamesDue, type WatchedNames } from './watched-names.ts'

/** Milliseconds that a metrics request waits for the store. */
const STORE_METRICS_TIMEOUT_MS = 2_000
const QUANTILE_LABELS = { p50: '0.5', p95: '0.95', p99: '0.99' } as const

/** The command-line options. */
type ContinuousCrawlOptions = {
  resolver: readonly DnsServer[]
  allow: readonly AddressRange[]
  parallel: number
}

/** Throws CommandFault if a continuous crawl could not start with these settings. */
export function checkCrawlSettings(settings: Settings, { resolver, allow }: ContinuousCrawlOptions): void {
  probeIntervalsOf(settings)
  loadPlanLimits(settings)
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
  const limits = loadPlanLimits(settings)
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
  const watchedNames = { store, limits, optOut, onFault: (err: unknown) => log.error({ err }, 'watched names') }
  await crawlWithWatchedNames(dependencies, watchedNames, signal)
  log.info('crawl stopped')
}

/** Crawls until the signal, and makes watched names due meanwhile. */
async function crawlWithWatchedNames(
  dependencies: CrawlerDependencies,
  watchedNames: WatchedNames,
  signal: AbortSignal,
): Promise<void> {
  const ended = new AbortController()
  const keeping = keepWatchedNamesDue(watchedNames, dependencies.clock, AbortSignal.any([signal, ended.signal]))
  try {
    await crawlContinuously(dependencies, signal)
  } finally {
    ended.abort()
    await keeping
  }
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

/** Returns a function that formats the metrics as text. `nowMs`: the clock of the statistics. */
function crawlMetrics(
  store: Pick<Store, 'schedule' | 'crawlRequests' | 'now'>,
  stats: CrawlStats,
  nowMs: () => number,
  probeSystem: Pick<ProbeSystem, 'disagreements' | 'exclusions'>,
): () => Promise<string> {
  const registry = new Registry()
  const updateProcessMetrics = processMetrics(registry)
  const updateInstallationMetrics = installationMetrics(registry)
  return async () => {
    updateProcessMetrics(stats, nowMs(), probeSystem)
    updateInstallationMetrics(
      await Promise.race([readCrawlStatus(store), sleep(STORE_METRICS_TIMEOUT_MS, null, { ref: false })]).catch(
        () => null,
      ),
    )
    return registry.metrics()
  }
}

/** Registers the metrics of this process. Returns the function that updates them. */
function processMetrics(registry: Registry) {
  const { gauge, counter } = metricFactories(registry)
  const probes = counter('probes_total', 'Finished probes, by kind and outcome.', ['kind', 'outcome'])
  const batches = counter('batches_total', 'Batches of probes that were saved, and that were discarded.', ['result'])
  const repeated = counter('repeated_probes_total', 'Probes that ran twice at once, by whether both results agreed.', [
    'result',
  ])
  const disagreements = counter(
    'resolver_disagreements_total',
    'DNS queries at which one resolver denied the name or failed and another one did not.',
  )
  const excluded = gauge('excluded', 'Resolvers and address families that the crawler does not use now.', ['what'])
  const paused = gauge('paused', '1 for the reason why the crawl pauses.', ['reason'])
  const rate = gauge('probes_per_second', 'Probes per second in the last minute.')
  const lag = gauge('lag_seconds', 'Time between the due time of a name and its probe, of the latest probes.', [
    'quantile',
  ])
  return (stats: CrawlStats, now: number, probeSystem: Pick<ProbeSystem, 'disagreements' | 'exclusions'>): void => {
    for (const each of [probes, batches, repeated, disagreements]) each.reset()
    for (const [kind, outcomes] of Object.entries(stats.probes)) {
      for (const [outcome, count] of Object.entries(outcomes)) probes.inc({ kind, outcome }, count)
    }
    for (const [result, count] of Object.entries(stats.batches)) batches.inc({ result }, count)
    repeated.inc({ result: 'same' }, stats.repeated.total - stats.repeated.differed)
    repeated.inc({ result: 'different' }, stats.repeated.differed)
    disagreements.inc(probeSystem.disagreements())
    for (const [what, count] of Object.entries(probeSystem.exclusions())) excluded.set({ what }, count)
    for (const reason of PAUSE_REASONS) paused.set({ reason }, Number(stats.pause?.reason === reason))
    rate.set(stats.rate(now))
    setQuantileGauge(lag, quantiles(LAG_BOUNDS_SECONDS, stats.lags))
  }
}

/** Registers the metrics of the installation, the same from every crawler. Returns the function that updates them. */
function installationMetrics(registry: Registry) {
  const { gauge } = metricFactories(registry)
  const counts = {
    names: gauge('names', 'Known names, as of the last sweep of each range.'),
    due: gauge('due_names', 'Names that are due.'),
    overdue: gauge('overdue_names', 'Names that have been due for a day or longer.'),
    neverProbed: gauge('new_names', 'Names that were never probed.'),
  }
  const requests = gauge('requests', 'Names with a crawl request.', ['kind'])
  const age = gauge('age_seconds', 'Time since the last probe of the names.', ['quantile'])
  const crawlers = gauge('crawlers', 'Live crawlers.')
  return (status: CrawlStatus | null): void => {
    for (const each of [...Object.values(counts), requests, age, crawlers]) each.reset()
    if (status === null) return
    for (const [key, each] of Object.entries(counts)) each.set(status.count[key as keyof typeof counts])
    for (const [kind, count] of Object.entries(status.requests)) requests.set({ kind }, count)
    setQuantileGauge(age, status.age)
    crawlers.set(status.crawlers.length)
  }
}

function metricFactories(registry: Registry) {
  const of = (name: string, help: string, labelNames: string[]) => ({
    name: `domaindex_crawl_${name}`,
    help,
    labelNames,
    registers: [registry],
  })
  return {
    gauge: (name: string, help: string, labels: string[] = []) => new Gauge(of(name, help, labels)),
    counter: (name: string, help: string, labels: string[] = []) => new Counter(of(name, help, labels)),
  }
}

function setQuantileGauge(gauge: Gauge, values: Quantiles | null): void {
  gauge.reset()
  if (values === null) return
  for (const [key, quantile] of Object.entries(QUANTILE_LABELS)) gauge.set({ quantile }, values[key as keyof Quantiles])
}
