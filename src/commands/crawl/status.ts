/** `domaindex crawl --status`: how the crawl goes, for people and for programs. */

import { LAG_SECONDS } from '../../schedule/figures.ts'
import type { Quantiles } from '../../schedule/quantiles.ts'
import { type Status, statusOf } from '../../schedule/status.ts'
import { AGE_DAYS } from '../../store/schedule.ts'
import { withStore } from '../store.ts'

const RANGES = 256
const DAY = 86_400
const UNITS = [
  [86_400, 'd'],
  [3_600, 'h'],
  [60, 'min'],
] as const

export async function printStatus(isJson: boolean): Promise<void> {
  const status = await withStore('read', statusOf)
  console.log(isJson ? JSON.stringify(status) : statusWords(status).join('\n'))
}

/** A line each. What no sweep has counted yet is not told as 0. */
export function statusWords(status: Status): string[] {
  const { count, wished, unswept, rate, day, lag, age, crawlers } = status
  const lines = [
    `names      ${counted(`${number(count.names)}, never visited ${number(count.fresh)}`, unswept)}`,
    `due        ${counted(`${number(count.due)}, overdue for a day ${number(count.overdue)}`, unswept)}`,
    `wished     ${number(wished.asked)} asked for, ${number(wished.followup)} for files`,
    `rate       ${rate.toFixed(1)} visits a second in the last minute`,
    `lag        ${quantileWords(lag, LAG_SECONDS.at(-1)!)}`,
    `facts' age ${quantileWords(age, AGE_DAYS.at(-1)! * DAY)}`,
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

function counted(words: string, unswept: number): string {
  if (unswept === RANGES) return 'not counted yet'
  return unswept === 0 ? words : `${words} (${unswept} of ${RANGES} ranges are not counted yet)`
}

/** `most`: seconds beyond which nothing more is known. */
function quantileWords(quantiles: Quantiles | null, most: number): string {
  if (quantiles === null) return 'not known'
  const words = (seconds: number): string => `${seconds >= most ? 'over' : 'up to'} ${span(seconds)}`
  return `half ${words(quantiles.p50)}, 95 % ${words(quantiles.p95)}, 99 % ${words(quantiles.p99)}`
}

/** As in `2.5 d`, `40 min` or `12 s`. */
function span(seconds: number): string {
  const [size, unit] = UNITS.find(([length]) => seconds >= length) ?? [1, 's']
  return `${Number((seconds / size).toFixed(1))} ${unit}`
}

function number(count: number): string {
  return count.toLocaleString('en-US')
}
