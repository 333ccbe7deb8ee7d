/** How a crawl goes, read from the store alone: what is due, what came of visits, and who crawls. */

import type { Count, Heard, Outcomes, RangeState } from '../store/schedule.ts'
import type { Store } from '../store/store.ts'
import { WISHES, type WishKind } from '../store/wishes.ts'
import { ageOf, NOTHING, plus } from './count.ts'
import { LAG_SECONDS, type Report } from './figures.ts'
import { type Quantiles, quantiles } from './quantiles.ts'

/** A crawler that lives. `report` is null where its words cannot be read. */
export type Alive = { holder: string; heard: number; report: Report | null }

/** `count`: of all ranges, as each was when it was last swept; `unswept`: ranges that never were. */
export type Status = {
  count: Count
  unswept: number
  wished: Record<WishKind, number>
  /** Visits a second of all crawlers in the last minute. */
  rate: number
  /** Outcomes of the last 24 hours, by kind. */
  day: Omit<Outcomes, 'hour'>[]
  /** Seconds between the time a name was due and its visit, of the latest visits; null where there were none. */
  lag: Quantiles | null
  /** Seconds since names were last looked at; null where none was. */
  age: Quantiles | null
  crawlers: Alive[]
}

const DAY = 86_400

export async function statusOf({ schedule, wishes, now }: Pick<Store, 'schedule' | 'wishes' | 'now'>): Promise<Status> {
  const ranges = await schedule.ranges()
  const outcomes = await schedule.outcomes((await now()) - DAY)
  const crawlers = (await schedule.crawlers()).map(alive)
  const reports = crawlers.flatMap(({ report }) => report ?? [])
  const count = countAll(ranges)
  const wished = await Promise.all(WISHES.map(async (kind) => [kind, await wishes.count(kind)] as const))
  return {
    count,
    unswept: ranges.filter((range) => range.count === null).length,
    wished: Object.fromEntries(wished) as Record<WishKind, number>,
    rate: reports.reduce((sum, { rate }) => sum + rate, 0),
    day: byKind(outcomes),
    lag: quantiles(LAG_SECONDS, addLags(reports)),
    age: ageOf(count),
    crawlers,
  }
}

export function countAll(ranges: readonly RangeState[]): Count {
  return ranges.flatMap(({ count }) => count ?? []).reduce(plus, NOTHING)
}

function byKind(outcomes: readonly Outcomes[]): Omit<Outcomes, 'hour'>[] {
  const all = new Map<string, Omit<Outcomes, 'hour'>>()
  for (const { kind, visits, servfail, nxdomain, none } of outcomes) {
    const sum = all.get(kind) ?? { kind, visits: 0, servfail: 0, nxdomain: 0, none: 0 }
    sum.visits += visits
    sum.servfail += servfail
    sum.nxdomain += nxdomain
    sum.none += none
    all.set(kind, sum)
  }
  return [...all.values()]
}

function addLags(reports: readonly Report[]): number[] {
  const sum = LAG_SECONDS.map(() => 0).concat(0)
  for (const { lags } of reports) for (const [place, count] of lags.entries()) sum[place]! += count
  return sum
}

/** A crawler of another release may say it in other words. */
function alive({ holder, heard, report }: Heard): Alive {
  const read = JSON.parse(report) as Report
  const isRead = Array.isArray(read?.lags) && read.lags.length === LAG_SECONDS.length + 1 && Number.isFinite(read.rate)
  return { holder, heard, report: isRead ? read : null }
}
