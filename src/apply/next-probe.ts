/** When a name is to be visited again, by what the last visit saw of it. Pure. */

import { type DomainName, slotOf } from '../values/domain-name.ts'
import type { Instant } from '../values/time.ts'
import type { CrawlState } from './crawl-state.ts'

/** Seconds between two visits of a name: at least, at first, and at most. */
export type ProbeIntervals = { min: number; first: number; max: number }

const SECONDS_PER_DAY = 86_400

export const DEFAULT_PROBE_INTERVALS: ProbeIntervals = {
  min: SECONDS_PER_DAY,
  first: 7 * SECONDS_PER_DAY,
  max: 30 * SECONDS_PER_DAY,
}

/** What an observation came to, as far as it matters for the next visit. `failing`: nxdomain or servfail. */
export type ObservedOutcome = { at: Instant; changed: boolean; failing: boolean }

export type ProbePlan = Pick<CrawlState, 'due' | 'failures'>

/** A span is halved where something changed, and grows by half where nothing did. */
const INTERVAL_FACTOR_IF_CHANGED = 0.5
const INTERVAL_FACTOR_IF_UNCHANGED = 1.5
const MAX_FAILURES = 31
/**
 * The share of a span by which it is shorter, half of it for all names: a visit that comes a little late still comes
 * within the ceiling. The other half is more or less by the name, so that names that were seen together do not come
 * back together.
 */
const MAX_JITTER_SHARE = 0.1
const SLOT_COUNT = 65_536

/**
 * The plan after an observation; `before` is the newest clock that stood until then, 0 where there was none. A failing
 * name is visited after `soonest`, then after twice as long each time. No span is longer than `latest`.
 */
export function planAfterObservation(
  { name, due, failures }: CrawlState,
  before: Instant,
  outcome: ObservedOutcome,
  intervals: ProbeIntervals,
): ProbePlan {
  if (outcome.failing) {
    const failed = Math.min(failures + 1, MAX_FAILURES)
    return { due: outcome.at + boundedWithJitter(name, intervals.min * 2 ** (failed - 1), intervals), failures: failed }
  }
  const span =
    before === 0 ? intervals.first : nextInterval(due > before ? due - before : intervals.first, outcome.changed)
  return { due: outcome.at + boundedWithJitter(name, span, intervals), failures: 0 }
}

function nextInterval(interval: number, changed: boolean): number {
  return interval * (changed ? INTERVAL_FACTOR_IF_CHANGED : INTERVAL_FACTOR_IF_UNCHANGED)
}

/** Within the bounds, and a little shorter. */
function boundedWithJitter(name: DomainName, interval: number, { min: soonest, max: latest }: ProbeIntervals): number {
  const bounded = Math.min(Math.max(interval, soonest), latest)
  return Math.floor(bounded * (1 - (MAX_JITTER_SHARE / 2) * (1 + slotOf(name) / SLOT_COUNT)))
}
