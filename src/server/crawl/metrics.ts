/** The metrics of a crawl that goes on and on: those of this process, and those of all crawlers, which the store has. */

import { setTimeout as sleep } from 'node:timers/promises'
import { Counter, Gauge, Registry } from 'prom-client'
import { type CrawlStats, LAG_BOUNDS_SECONDS, PAUSE_REASONS } from '../../crawler/status/stats.ts'
import { type Quantiles, quantiles } from '../../crawler/status/quantiles.ts'
import { type CrawlStatus, readCrawlStatus } from '../../crawler/status/status.ts'
import type { Store } from '../../store/port/store.ts'
import type { ProbeSystem } from '../../crawler/probe-system.ts'

/** Milliseconds that whoever asks for metrics waits for the store's. */
const STORE_METRICS_TIMEOUT_MS = 2_000
const QUANTILE_LABELS = { p50: '0.5', p95: '0.95', p99: '0.99' } as const

/** Reads them as text; `ticks` as the figures were given them. */
export function crawlMetrics(
  store: Pick<Store, 'schedule' | 'crawlRequests' | 'now'>,
  stats: CrawlStats,
  nowMs: () => number,
  probeSystem: Pick<ProbeSystem, 'disagreements' | 'exclusions'>,
): () => Promise<string> {
  const registry = new Registry()
  const own = processMetrics(registry)
  const common = installationMetrics(registry)
  return async () => {
    own(stats, nowMs(), probeSystem)
    common(await Promise.race([readCrawlStatus(store), sleep(STORE_METRICS_TIMEOUT_MS, null, { ref: false })]).catch(() => null))
    return registry.metrics()
  }
}

/** Of this process. */
function processMetrics(registry: Registry) {
  const { gauge, counter } = metricFactories(registry)
  const probes = counter('visits_total', 'Visits that ended, by the kind of their turn and by what they saw.', [
    'kind',
    'outcome',
  ])
  const batches = counter('slices_total', 'Slices of visits that were saved, and that were thrown away.', ['end'])
  const repeated = counter(
    'twice_total',
    'Visits made twice at once, and those that saw something else the second time.',
    ['saw'],
  )
  const disagreements = counter(
    'resolver_disagreements_total',
    'Questions at which one resolver denied or failed and another did not.',
  )
  const excluded = gauge('left_out', 'Resolvers that are not asked, families that are not connected to.', ['what'])
  const paused = gauge('paused', '1 for the reason why the crawl pauses.', ['why'])
  const rate = gauge('rate', 'Visits a second in the last minute.')
  const lag = gauge('lag_seconds', 'What passed between the time a name was due and its visit, of the latest visits.', [
    'quantile',
  ])
  return (stats: CrawlStats, now: number, probeSystem: Pick<ProbeSystem, 'disagreements' | 'exclusions'>): void => {
    for (const each of [probes, batches, repeated, disagreements]) each.reset()
    for (const [kind, ends] of Object.entries(stats.probes)) {
      for (const [outcome, count] of Object.entries(ends)) probes.inc({ kind, outcome }, count)
    }
    for (const [end, count] of Object.entries(stats.batches)) batches.inc({ end }, count)
    repeated.inc({ saw: 'the same' }, stats.repeated.made - stats.repeated.differed)
    repeated.inc({ saw: 'something else' }, stats.repeated.differed)
    disagreements.inc(probeSystem.disagreements())
    for (const [what, count] of Object.entries(probeSystem.exclusions())) excluded.set({ what }, count)
    for (const why of PAUSE_REASONS) paused.set({ why }, Number(stats.pause?.reason === why))
    rate.set(stats.rate(now))
    setQuantileGauge(lag, quantiles(LAG_BOUNDS_SECONDS, stats.lags))
  }
}

/** Of the installation: the same whichever crawler is asked. */
function installationMetrics(registry: Registry) {
  const { gauge } = metricFactories(registry)
  const counts = {
    names: gauge('names', 'Names that are known, as ranges were last swept.'),
    due: gauge('due', 'Names whose time has come.'),
    overdue: gauge('overdue', 'Names whose time came a day ago or earlier.'),
    fresh: gauge('fresh', 'Names that were never visited.'),
  }
  const requests = gauge('wishes', 'Names that somebody wants to be visited soon.', ['kind'])
  const age = gauge('age_seconds', 'What has passed since names were last looked at.', ['quantile'])
  const crawlers = gauge('crawlers', 'Crawlers that live.')
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
