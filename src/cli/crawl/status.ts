/** `domaindex crawl --status`: the state of the crawl, as text or JSON. */

import type { Quantiles } from '../../crawler/status/quantiles.ts'
import { LAG_BOUNDS_SECONDS } from '../../crawler/status/stats.ts'
import { type CrawlStatus, readCrawlStatus } from '../../crawler/status/status.ts'
import { AGE_DAYS } from '../../store/port/schedule.ts'
import { SLOT_RANGES } from '../../values/domain-name.ts'
import { SECONDS_PER_DAY } from '../../values/time.ts'
import { withExistingStore } from '../program/existing-store.ts'

const DURATION_UNITS = [
  [SECONDS_PER_DAY, 'd'],
  [3_600, 'h'],
  [60, 'min'],
] as const

export async function printCrawlStatus(isJson: boolean): Promise<void> {
  const status = await withExistingStore('read', readCrawlStatus)
  console.log(isJson ? JSON.stringify(status) : formatCrawlStatus(status).join('\n'))
}

/** One line each. Values that no sweep has counted yet are not shown as 0. */
export function formatCrawlStatus(status: CrawlStatus): string[] {
  const { count, requests, unsweptRanges, rate, lastDay, lag, age, crawlers } = status
  const lines = [
    `names      ${withUnsweptNote(`${formatCount(count.names)}, never probed ${formatCount(count.neverProbed)}`, unsweptRanges)}`,
    `due        ${withUnsweptNote(`${formatCount(count.due)}, overdue for a day ${formatCount(count.overdue)}`, unsweptRanges)}`,
    `requests   ${formatCount(requests.lookup)} from lookups, ${formatCount(requests.followup)} for follow-up files`,
    `rate       ${rate.toFixed(1)} probes per second in the last minute`,
    `lag        ${formatQuantiles(lag, LAG_BOUNDS_SECONDS.at(-1)!)}`,
    `fact age   ${formatQuantiles(age, AGE_DAYS.at(-1)! * SECONDS_PER_DAY)}`,
  ]
  for (const { kind, probes, servfail, nxdomain, noWebsite } of lastDay) {
    const of = (part: number): string => `${((100 * part) / Math.max(probes, 1)).toFixed(1)} %`
    lines.push(
      `${kind.padEnd(10)} ${formatCount(probes)} probes in 24 hours: ` +
        `servfail ${of(servfail)}, nxdomain ${of(nxdomain)}, no website ${of(noWebsite)}`,
    )
  }
  if (crawlers.length === 0) lines.push('crawlers   none')
  for (const { holder, report } of crawlers) {
    const activity =
      report === null
        ? 'unreadable report'
        : report.pause === null
          ? `${report.rate.toFixed(1)} probes per second`
          : `paused for ${formatDuration(report.pause.seconds)}: ${report.pause.message}`
    lines.push(`crawler    ${holder}: ${activity}`)
  }
  return lines
}

function withUnsweptNote(text: string, unswept: number): string {
  if (unswept === SLOT_RANGES) return 'not counted yet'
  return unswept === 0 ? text : `${text} (${unswept} of ${SLOT_RANGES} ranges are not counted yet)`
}

/** `maxSeconds`: the upper limit of the known values. */
function formatQuantiles(quantiles: Quantiles | null, maxSeconds: number): string {
  if (quantiles === null) return 'unknown'
  const format = (seconds: number): string => `${seconds >= maxSeconds ? 'over' : 'up to'} ${formatDuration(seconds)}`
  return `half ${format(quantiles.p50)}, 95 % ${format(quantiles.p95)}, 99 % ${format(quantiles.p99)}`
}

/** As in `2.5 d`, `40 min` or `12 s`. */
function formatDuration(seconds: number): string {
  const [size, unit] = DURATION_UNITS.find(([length]) => seconds >= length) ?? [1, 's']
  return `${Number((seconds / size).toFixed(1))} ${unit}`
}

function formatCount(count: number): string {
  return count.toLocaleString('en-US')
}
