/**
 * `npm run bench:crawl-simulation`: runs the crawl scheduler over simulated months in minutes, with crawlers that die
 * and restart.
 */

import { mkdirSync, rmSync } from 'node:fs'
import { DEFAULT_PROBE_INTERVALS } from '../src/apply/next-probe.ts'
import { quantiles } from '../src/crawler/status/quantiles.ts'
import { LAG_BOUNDS_SECONDS } from '../src/crawler/status/stats.ts'
import { type SimulationOptions, type SimulationResult, simulate } from './crawl-simulation/simulation.ts'
import { readTexts } from './measure/options.ts'
import { makeTemporaryFolder } from './measure/process.ts'
import { metric, metricWithMax, report } from './measure/report.ts'

const DAY = 86_400
/** Days by which a probe may exceed the maximum interval. */
const MAX_DELAY_DAYS = 1

const values = readTexts({ names: '1000000', days: '90', crawlers: '4', rate: '20', seed: '1' })
const folder = makeTemporaryFolder()
const options: SimulationOptions = {
  names: Number(values.names),
  days: Number(values.days),
  crawlers: Number(values.crawlers),
  rate: Number(values.rate),
  seed: Number(values.seed),
  intervals: DEFAULT_PROBE_INTERVALS,
  maxLifetimeDays: 2,
  folder,
}
mkdirSync(folder, { recursive: true })
const startedAt = performance.now()
const seconds = (): number => (performance.now() - startedAt) / 1000
try {
  const result = await simulate(options, (day, probes) => {
    if (day % 10 === 0) console.error(`  day ${day}: ${probes} probes, ${Math.round(seconds())} s`)
  })
  reportResult(result)
} finally {
  rmSync(folder, { recursive: true })
}

function reportResult({ log, neverProbed, kills, lags, batches }: SimulationResult): void {
  const lagQuantiles = quantiles(LAG_BOUNDS_SECONDS, lags)!
  const maxDays = DEFAULT_PROBE_INTERVALS.max / DAY + MAX_DELAY_DAYS
  const metrics = [
    metricWithMax('names that were never probed', neverProbed, '', 0),
    metricWithMax('probes of a name while another crawler probed it', log.overlapping, '', 0),
    metricWithMax('the longest time between two probes of a name', log.longestGap / DAY, 'days', maxDays),
    metricWithMax('the longest time until a first probe', log.longestFirst / DAY, 'days', maxDays),
    metric('probes', log.probes, ''),
    metric('killed crawlers', kills, ''),
    metric('batches saved', batches.saved, ''),
    metric('batches discarded', batches.discarded, ''),
    metric('lag, p50, at most', lagQuantiles.p50 / 3600, 'hours'),
    metric('lag, p95, at most', lagQuantiles.p95 / 3600, 'hours'),
    metric('lag, p99, at most', lagQuantiles.p99 / 3600, 'hours'),
    metric('duration', seconds() / 60, 'minutes'),
  ]
  const notes = [
    `${options.names.toLocaleString('en')} names, ${options.days} days, ${options.crawlers} crawlers at ${options.rate} probes per second in total, seed ${options.seed}`,
    'a crawler runs for a day on average and is down for 5 minutes; a range is swept every 6 hours, every minute in a real crawl',
    'of 100 names 4 do not exist, 3 fail, 3 fail at times, 10 rotate their address, 20 move every 15 days; 40 are hosted by 100 companies',
  ]
  report('crawl-simulation', metrics, notes, { lags })
  if (metrics.some(({ isMet }) => isMet === false)) process.exitCode = 1
}
