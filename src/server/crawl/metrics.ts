/** The metrics of a continuous crawl: those of this process, and those of all crawlers from the store. */

import { setTimeout as sleep } from 'node:timers/promises'
import { Counter, Gauge, Registry } from 'prom-client'
import type { ProbeSystem } from '../../crawler/probe-system.ts'
import { type Quantiles, quantiles } from '../../crawler/status/quantiles.ts'
import { type CrawlStats, LAG_BOUNDS_SECONDS, PAUSE_REASONS } from '../../crawler/status/stats.ts'
import { type CrawlStatus, readCrawlStatus } from '../../crawler/status/status.ts'
import type { Store } from '../../store/port/store.ts'

/** Milliseconds that a metrics request waits for the store. */
const STORE_METRICS_TIMEOUT_MS = 2_000
const QUANTILE_LABELS = { p50: '0.5', p95: '0.95', p99: '0.99' } as const

/** Returns a function that formats the metrics as text. `nowMs`: the clock of the statistics. */
export function crawlMetrics(
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
