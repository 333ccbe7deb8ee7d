/** Decides when a name is probed next, from the outcome of its last probe. Pure. */

import { type DomainName, SLOT_COUNT, slotOf } from '../values/domain-name.ts'
import { type Instant, SECONDS_PER_DAY } from '../values/time.ts'
import type { CrawlState } from './crawl-state.ts'

/** Seconds between two probes of a name: the shortest, the first and the longest interval. */
export type ProbeIntervals = { min: number; first: number; max: number }

export const DEFAULT_PROBE_INTERVALS: ProbeIntervals = {
  min: SECONDS_PER_DAY,
  first: 7 * SECONDS_PER_DAY,
  max: 30 * SECONDS_PER_DAY,
}

/** What the next probe depends on. `failing`: nxdomain or servfail. */
export type ObservedOutcome = { at: Instant; changed: boolean; failing: boolean }

export type ProbePlan = Pick<CrawlState, 'due' | 'failures'>

/** A change halves the interval. Without a change, it grows by half. */
const INTERVAL_FACTOR_IF_CHANGED = 0.5
const INTERVAL_FACTOR_IF_UNCHANGED = 1.5
const MAX_FAILURES = 31
/**
 * The maximum share by which an interval is shortened. Half of it applies to all names, so that a slightly late probe
 * stays within the maximum. The other half depends on the name, so that names observed together spread out.
 */
const MAX_JITTER_SHARE = 0.1

/**
 * Returns the plan after an observation. `before` is the previous newest clock, or 0 if there was none. A failing name
 * is due after `intervals.min`, and the interval doubles with each further failure. No interval exceeds
 * `intervals.max`.
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
  const interval =
    before === 0 ? intervals.first : nextInterval(due > before ? due - before : intervals.first, outcome.changed)
  return { due: outcome.at + boundedWithJitter(name, interval, intervals), failures: 0 }
}

function nextInterval(interval: number, changed: boolean): number {
  return interval * (changed ? INTERVAL_FACTOR_IF_CHANGED : INTERVAL_FACTOR_IF_UNCHANGED)
}

/** Limits the interval to the bounds and shortens it a little. */
function boundedWithJitter(name: DomainName, interval: number, { min, max }: ProbeIntervals): number {
  const bounded = Math.min(Math.max(interval, min), max)
  return Math.floor(bounded * (1 - (MAX_JITTER_SHARE / 2) * (1 + slotOf(name) / SLOT_COUNT)))
}
