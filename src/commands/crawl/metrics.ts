/** The metrics of a crawl that goes on and on: those of this process, and those of all crawlers, which the store has. */

import { setTimeout as sleep } from 'node:timers/promises'
import { Counter, Gauge, Registry } from 'prom-client'
import { type Figures, LAG_SECONDS, PAUSES } from '../../schedule/figures.ts'
import { type Quantiles, quantiles } from '../../schedule/quantiles.ts'
import { type Status, statusOf } from '../../schedule/status.ts'
import type { Store } from '../../store/store.ts'
import type { Eyes } from './eyes.ts'

/** Milliseconds that whoever asks for metrics waits for the store's. */
const PATIENCE = 2_000
const QUANTILES = { p50: '0.5', p95: '0.95', p99: '0.99' } as const

/** Reads them as text; `ticks` as the figures were given them. */
export function metricsOf(
  store: Pick<Store, 'schedule' | 'wishes' | 'now'>,
  figures: Figures,
  ticks: () => number,
  eyes: Pick<Eyes, 'disagreements' | 'leftOut'>,
): () => Promise<string> {
  const registry = new Registry()
  const own = ownMetrics(registry)
  const common = commonMetrics(registry)
  return async () => {
    own(figures, ticks(), eyes)
    common(await Promise.race([statusOf(store), sleep(PATIENCE, null, { ref: false })]).catch(() => null))
    return registry.metrics()
  }
}

/** Of this process. */
function ownMetrics(registry: Registry) {
  const { gauge, counter } = makersOf(registry)
  const visits = counter('visits_total', 'Visits that ended, by the kind of their turn and by what they saw.', [
    'kind',
    'outcome',
  ])
  const slices = counter('slices_total', 'Slices of visits that were saved, and that were thrown away.', ['end'])
  const twice = counter(
    'twice_total',
    'Visits made twice at once, and those that saw something else the second time.',
    ['saw'],
  )
  const differed = counter(
    'resolver_disagreements_total',
    'Questions at which one resolver denied or failed and another did not.',
  )
  const leftOut = gauge('left_out', 'Resolvers that are not asked, families that are not connected to.', ['what'])
  const paused = gauge('paused', '1 for the reason why the crawl pauses.', ['why'])
  const rate = gauge('rate', 'Visits a second in the last minute.')
  const lag = gauge('lag_seconds', 'What passed between the time a name was due and its visit, of the latest visits.', [
    'quantile',
  ])
  return (figures: Figures, now: number, eyes: Pick<Eyes, 'disagreements' | 'leftOut'>): void => {
    for (const each of [visits, slices, twice, differed]) each.reset()
    for (const [kind, ends] of Object.entries(figures.visits)) {
      for (const [outcome, count] of Object.entries(ends)) visits.inc({ kind, outcome }, count)
    }
    for (const [end, count] of Object.entries(figures.slices)) slices.inc({ end }, count)
    twice.inc({ saw: 'the same' }, figures.twice.made - figures.twice.differed)
    twice.inc({ saw: 'something else' }, figures.twice.differed)
    differed.inc(eyes.disagreements())
    for (const [what, count] of Object.entries(eyes.leftOut())) leftOut.set({ what }, count)
    for (const why of PAUSES) paused.set({ why }, Number(figures.pause?.reason === why))
    rate.set(figures.rate(now))
    setQuantiles(lag, quantiles(LAG_SECONDS, figures.lags))
  }
}

/** Of the installation: the same whichever crawler is asked. */
function commonMetrics(registry: Registry) {
  const { gauge } = makersOf(registry)
  const counts = {
    names: gauge('names', 'Names that are known, as ranges were last swept.'),
    due: gauge('due', 'Names whose time has come.'),
    overdue: gauge('overdue', 'Names whose time came a day ago or earlier.'),
    fresh: gauge('fresh', 'Names that were never visited.'),
  }
  const wishes = gauge('wishes', 'Names that somebody wants to be visited soon.', ['kind'])
  const age = gauge('age_seconds', 'What has passed since names were last looked at.', ['quantile'])
  const crawlers = gauge('crawlers', 'Crawlers that live.')
  return (status: Status | null): void => {
    for (const each of [...Object.values(counts), wishes, age, crawlers]) each.reset()
    if (status === null) return
    for (const [key, each] of Object.entries(counts)) each.set(status.count[key as keyof typeof counts])
    for (const [kind, count] of Object.entries(status.wished)) wishes.set({ kind }, count)
    setQuantiles(age, status.age)
    crawlers.set(status.crawlers.length)
  }
}

function makersOf(registry: Registry) {
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

function setQuantiles(gauge: Gauge, values: Quantiles | null): void {
  gauge.reset()
  if (values === null) return
  for (const [key, quantile] of Object.entries(QUANTILES)) gauge.set({ quantile }, values[key as keyof Quantiles])
}
