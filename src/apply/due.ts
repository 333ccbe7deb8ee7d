/** When a name is to be visited again, by what the last visit saw of it. Pure. */

import { type Name, slotOf } from '../words/name.ts'
import type { Instant } from '../words/time.ts'
import type { Visit } from './known.ts'

/** Seconds between two visits of a name: at least, at first, and at most. */
export type Rhythm = { soonest: number; first: number; latest: number }

const DAY = 86_400

export const RHYTHM: Rhythm = { soonest: DAY, first: 7 * DAY, latest: 30 * DAY }

/** What an observation came to, as far as it matters for the next visit. `failing`: nxdomain or servfail. */
export type Seen = { at: Instant; changed: boolean; failing: boolean }

export type Plan = Pick<Visit, 'due' | 'failures'>

/** A span is halved where something changed, and grows by half where nothing did. */
const SHORTER = 0.5
const LONGER = 1.5
const MOST_FAILURES = 31
/**
 * The share of a span by which it is shorter, half of it for all names: a visit that comes a little late still comes within
 * the ceiling. The other half is more or less by the name, so that names that were seen together do not come back together.
 */
const SHORTER_BY = 0.1
const SLOTS = 65_536

/**
 * The plan after an observation; `before` is the newest clock that stood until then, 0 where there was none. A failing name
 * is visited after `soonest`, then after twice as long each time. No span is longer than `latest`.
 */
export function planAfter({ name, due, failures }: Visit, before: Instant, seen: Seen, rhythm: Rhythm): Plan {
  if (seen.failing) {
    const failed = Math.min(failures + 1, MOST_FAILURES)
    return { due: seen.at + spread(name, rhythm.soonest * 2 ** (failed - 1), rhythm), failures: failed }
  }
  const span = before === 0 ? rhythm.first : spanAfter(due > before ? due - before : rhythm.first, seen.changed)
  return { due: seen.at + spread(name, span, rhythm), failures: 0 }
}

function spanAfter(span: number, changed: boolean): number {
  return span * (changed ? SHORTER : LONGER)
}

/** Within the bounds, and a little shorter. */
function spread(name: Name, span: number, { soonest, latest }: Rhythm): number {
  const bounded = Math.min(Math.max(span, soonest), latest)
  return Math.floor(bounded * (1 - (SHORTER_BY / 2) * (1 + slotOf(name) / SLOTS)))
}
