/** What visits came to, counted by the hour and by what was known of the names before. Pure. */

import type { Outcomes } from '../store/schedule.ts'
import type { Instant } from '../words/time.ts'
import type { End } from './figures.ts'
import type { Past } from './past.ts'

const HOUR = 3_600

/** How one visit ended, of a name of which so much was known before. */
type Ended = { at: Instant; end: End; candidate: { past: Past } }

/** By hour and past; what was not looked at is none. */
export function outcomesOf(cut: readonly Ended[]): Outcomes[] {
  const all = new Map<string, Outcomes>()
  for (const { at, end, candidate } of cut) {
    if (end === 'unseen' || end === 'failed') continue
    const hour = at - (at % HOUR)
    const key = `${hour} ${candidate.past}`
    const outcomes = all.get(key) ?? { hour, kind: candidate.past, visits: 0, servfail: 0, nxdomain: 0, none: 0 }
    outcomes.visits++
    if (end !== 'ok') outcomes[end]++
    all.set(key, outcomes)
  }
  return [...all.values()]
}
