/** `domaindex crawl --status`: how the crawl goes, for people and for programs. */

import type { Quantiles } from '../../schedule/quantiles.ts'
import { type Status, statusOf } from '../../schedule/status.ts'
import { withStore } from '../store.ts'

const UNITS = [
  [86_400, 'd'],
  [3_600, 'h'],
  [60, 'min'],
] as const

export async function printStatus(isJson: boolean): Promise<void> {
  const status = await withStore('read', statusOf)
  console.log(isJson ? JSON.stringify(status) : words(status).join('\n'))
}

function words(status: Status): string[] {
  const { count, wished, unswept, rate, day, lag, age, crawlers } = status
  const lines = [
    `names      ${number(count.names)}, never visited ${number(count.fresh)}${unswept === 0 ? '' : ` (${unswept} of 256 ranges are not counted yet)`}`,
    `due        ${number(count.due)}, overdue for a day ${number(count.overdue)}`,
    `wished     ${number(wished.asked)} asked for, ${number(wished.followup)} for files`,
    `rate       ${rate.toFixed(1)} visits a second in the last minute`,
    `lag        ${quantileWords(lag)}`,
    `facts' age ${quantileWords(age)}`,
  ]
  for (const { kind, visits, servfail, nxdomain, none } of day) {
    const of = (part: number): string => `${((100 * part) / Math.max(visits, 1)).toFixed(1)} %`
    lines.push(
      `${kind.padEnd(10)} ${number(visits)} visits in 24 hours: servfail ${of(servfail)}, nxdomain ${of(nxdomain)}, no website ${of(none)}`,
    )
  }
  if (crawlers.length === 0) lines.push('crawlers   none')
  for (const { holder, report } of crawlers) {
    const doing =
      report === null
        ? 'its report cannot be read'
        : report.pause === null
          ? `${report.rate.toFixed(1)} visits a second`
          : `paused for ${span(report.pause.seconds)}: ${report.pause.why}`
    lines.push(`crawler    ${holder}: ${doing}`)
  }
  return lines
}

function quantileWords(quantiles: Quantiles | null): string {
  if (quantiles === null) return 'not known'
  return `half up to ${span(quantiles.p50)}, 95 % up to ${span(quantiles.p95)}, 99 % up to ${span(quantiles.p99)}`
}

/** As in `2.5 d`, `40 min` or `12 s`. */
function span(seconds: number): string {
  const [size, unit] = UNITS.find(([length]) => seconds >= length) ?? [1, 's']
  return `${Number((seconds / size).toFixed(1))} ${unit}`
}

function number(count: number): string {
  return count.toLocaleString('en-US')
}
