/**
 * `npm run bench:crawl-simulation`: the loop of the crawl over months that pass in minutes, with crawlers that die and
 * come back.
 */

import { mkdirSync, rmSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { DEFAULT_PROBE_INTERVALS } from '../src/apply/next-probe.ts'
import { quantiles } from '../src/crawler/status/quantiles.ts'
import { LAG_BOUNDS_SECONDS } from '../src/crawler/status/stats.ts'
import { type Result, simulate, type World } from './crawl-simulation/simulation.ts'
import { temporary } from './measure/process.ts'
import { atMost, figure, report } from './measure/report.ts'

const DAY = 86_400
/** Days by which a visit may be later than the most that may pass between two. */
const LATE = 1

const { values } = parseArgs({
  options: {
    names: { type: 'string', default: '1000000' },
    days: { type: 'string', default: '90' },
    crawlers: { type: 'string', default: '4' },
    rate: { type: 'string', default: '20' },
    seed: { type: 'string', default: '1' },
  },
})
const folder = temporary()
const world: World = {
  names: Number(values.names),
  days: Number(values.days),
  crawlers: Number(values.crawlers),
  rate: Number(values.rate),
  seed: Number(values.seed),
  rhythm: DEFAULT_PROBE_INTERVALS,
  life: 2,
  folder,
}
mkdirSync(folder, { recursive: true })
const begun = performance.now()
const seconds = (): number => (performance.now() - begun) / 1000
try {
  const result = await simulate(world, (day, visits) => {
    if (day % 10 === 0) console.error(`  day ${day}: ${visits} visits, ${Math.round(seconds())} s`)
  })
  tell(result)
} finally {
  rmSync(folder, { recursive: true })
}

function tell({ logbook, never, kills, lags, slices }: Result): void {
  const lag = quantiles(LAG_BOUNDS_SECONDS, lags)!
  const most = DEFAULT_PROBE_INTERVALS.max / DAY + LATE
  const lines = [
    atMost('names that were never visited', never, '', 0),
    atMost('visits of a name that another crawler was visiting', logbook.together, '', 0),
    atMost('the longest time between two visits of a name', logbook.longestGap / DAY, 'days', most),
    atMost('the longest time until a first visit', logbook.longestFirst / DAY, 'days', most),
    figure('visits', logbook.visits, ''),
    figure('crawlers that were killed', kills, ''),
    figure('slices that were saved', slices.saved, ''),
    figure('slices that were thrown away', slices.thrown, ''),
    figure('lag of half of the visits, at most', lag.p50 / 3600, 'hours'),
    figure('lag of 95 of 100 visits, at most', lag.p95 / 3600, 'hours'),
    figure('lag of 99 of 100 visits, at most', lag.p99 / 3600, 'hours'),
    figure('took', seconds() / 60, 'minutes'),
  ]
  const notes = [
    `${world.names.toLocaleString('en')} names, ${world.days} days, ${world.crawlers} crawlers at ${world.rate} visits a second together, seed ${world.seed}`,
    'a crawler lives a day on average, and is away for 5 minutes; a range is swept every 6 hours, where a real crawl sweeps it every minute',
    'of 100 names 4 do not exist, 3 fail, 3 fail at times, 10 rotate their address, 20 move every 15 days; 40 are with 100 companies',
  ]
  report('crawl-simulation', lines, notes, { lags })
  if (lines.some(({ met }) => met === false)) process.exitCode = 1
}
