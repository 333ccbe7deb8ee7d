/** The status of the crawl, read only from the store: due names, outcomes of probes, and live crawlers. */

import { CRAWL_REQUEST_KINDS, type CrawlRequestKind } from '../../store/port/crawl-requests.ts'
import type { CrawlerHeartbeat, OutcomeCount, RangeState, SlotCount } from '../../store/port/schedule.ts'
import type { Store } from '../../store/port/store.ts'
import { SECONDS_PER_DAY } from '../../values/time.ts'
import { type Quantiles, quantiles } from './quantiles.ts'
import { type CrawlerReport, LAG_BOUNDS_SECONDS } from './stats.ts'
import { addSweepCounts, ageQuantiles, EMPTY_SWEEP_COUNT } from './sweep-count.ts'

/** A live crawler. `report` is null if it is unreadable. */
type LiveCrawler = { holder: string; heartbeatAt: number; report: CrawlerReport | null }

/** `count`: of all ranges, each as of its last sweep. `unsweptRanges`: ranges that were never swept. */
export type CrawlStatus = {
  count: SlotCount
  unsweptRanges: number
  requests: Record<CrawlRequestKind, number>
  /** Probes per second of all crawlers in the last minute. */
  rate: number
  /** Outcomes of the last 24 hours, by kind. */
  lastDay: Omit<OutcomeCount, 'hour'>[]
  /** Seconds from the due time of a name to its probe, for the latest probes. Null if there were none. */
  lag: Quantiles | null
  /** Seconds since the last probe of the names. Null if none was probed. */
  age: Quantiles | null
  crawlers: LiveCrawler[]
}

export async function readCrawlStatus({
  schedule,
  crawlRequests,
  now,
}: Pick<Store, 'schedule' | 'crawlRequests' | 'now'>): Promise<CrawlStatus> {
  const ranges = await schedule.ranges()
  const outcomes = await schedule.outcomes((await now()) - SECONDS_PER_DAY)
  const crawlers = (await schedule.crawlers()).map(toLiveCrawler)
  const reports = crawlers.flatMap(({ report }) => report ?? [])
  const count = sumRangeCounts(ranges)
  const requestCounts = await Promise.all(
    CRAWL_REQUEST_KINDS.map(async (kind) => [kind, await crawlRequests.count(kind)] as const),
  )
  return {
    count,
    unsweptRanges: ranges.filter((range) => range.count === null).length,
    requests: Object.fromEntries(requestCounts) as Record<CrawlRequestKind, number>,
    rate: reports.reduce((sum, { rate }) => sum + rate, 0),
    lastDay: sumByKind(outcomes),
    lag: quantiles(LAG_BOUNDS_SECONDS, sumLags(reports)),
    age: ageQuantiles(count),
    crawlers,
  }
}

function sumRangeCounts(ranges: readonly RangeState[]): SlotCount {
  return ranges.flatMap(({ count }) => count ?? []).reduce(addSweepCounts, EMPTY_SWEEP_COUNT)
}

function sumByKind(outcomes: readonly OutcomeCount[]): Omit<OutcomeCount, 'hour'>[] {
  const all = new Map<string, Omit<OutcomeCount, 'hour'>>()
  for (const { kind, probes, servfail, nxdomain, noWebsite } of outcomes) {
    const sum = all.get(kind) ?? { kind, probes: 0, servfail: 0, nxdomain: 0, noWebsite: 0 }
    sum.probes += probes
    sum.servfail += servfail
    sum.nxdomain += nxdomain
    sum.noWebsite += noWebsite
    all.set(kind, sum)
  }
  return [...all.values()]
}

function sumLags(reports: readonly CrawlerReport[]): number[] {
  const sum = LAG_BOUNDS_SECONDS.map(() => 0).concat(0)
  for (const { lags } of reports) for (const [bucket, count] of lags.entries()) sum[bucket]! += count
  return sum
}

/** The report of a crawler of another release may have another format. */
function toLiveCrawler({ holder, heartbeatAt, report }: CrawlerHeartbeat): LiveCrawler {
  const parsed = JSON.parse(report) as CrawlerReport
  const isReadable =
    Array.isArray(parsed?.lags) && parsed.lags.length === LAG_BOUNDS_SECONDS.length + 1 && Number.isFinite(parsed.rate)
  return { holder, heartbeatAt, report: isReadable ? parsed : null }
}
