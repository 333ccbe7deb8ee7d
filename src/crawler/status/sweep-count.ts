/** Counts of names: sums over slots, updates after probes, and the age of the facts. Pure. */

import type { CrawlState } from '../../apply/crawl-state.ts'
import { LAST_LIST_PLACE } from '../../apply/fresh-name.ts'
import { AGE_DAYS, type SlotCount } from '../../store/port/schedule.ts'
import { type Instant, SECONDS_PER_DAY } from '../../values/time.ts'
import { type Quantiles, quantiles } from './quantiles.ts'

export const EMPTY_SWEEP_COUNT: SlotCount = {
  names: 0,
  due: 0,
  overdue: 0,
  neverProbed: 0,
  next: null,
  ages: Array.from({ length: AGE_DAYS.length + 1 }, () => 0),
}

export function addSweepCounts(a: SlotCount, b: SlotCount): SlotCount {
  return {
    names: a.names + b.names,
    due: a.due + b.due,
    overdue: a.overdue + b.overdue,
    neverProbed: a.neverProbed + b.neverProbed,
    next: a.next === null || b.next === null ? (a.next ?? b.next) : Math.min(a.next, b.next),
    ages: a.ages.map((names, bucket) => names + b.ages[bucket]!),
  }
}

/** Updates the count of slots read at `readAt`, after a due name was probed. `due`: its next due time. */
export function countAfterProbe(count: SlotCount, state: CrawlState, readAt: Instant, due: Instant): SlotCount {
  const last = lastProbedAt(state)
  const ages = [...count.ages]
  if (last > 0) ages[ageBucketOf(readAt - last)]!--
  ages[0]!++
  const isOverdue = state.due <= readAt - SECONDS_PER_DAY && (state.due > LAST_LIST_PLACE || last > 0)
  return {
    names: count.names,
    due: count.due - 1,
    overdue: count.overdue - Number(isOverdue),
    neverProbed: count.neverProbed - Number(last === 0),
    next: Math.min(count.next ?? due, due),
    ages,
  }
}

/** When a name was last probed, 0 for never. */
export function lastProbedAt({ clocks }: CrawlState): Instant {
  return Math.max(...clocks)
}

/** The 50th, 95th and 99th percentile of the facts' age in seconds. Returns null if nothing was probed. */
export function ageQuantiles({ ages }: SlotCount): Quantiles | null {
  return quantiles(
    AGE_DAYS.map((days) => days * SECONDS_PER_DAY),
    ages,
  )
}

function ageBucketOf(seconds: number): number {
  const bucket = AGE_DAYS.findIndex((days) => seconds <= days * SECONDS_PER_DAY)
  return bucket < 0 ? AGE_DAYS.length : bucket
}
