/** What visits came to, counted by the hour and by what was known of the names before. Pure. */

import type { OutcomeCount } from '../../store/port/schedule.ts'
import type { Instant } from '../../values/time.ts'
import type { ProbeOutcome } from '../status/stats.ts'
import type { PriorState } from './prior-state.ts'

const SECONDS_PER_HOUR = 3_600

/** How one visit ended, of a name of which so much was known before. */
type CountableProbe = { at: Instant; outcome: ProbeOutcome; candidate: { prior: PriorState } }

/** By hour and past; what was not looked at is none. */
export function countOutcomes(probes: readonly CountableProbe[]): OutcomeCount[] {
  const all = new Map<string, OutcomeCount>()
  for (const { at, outcome, candidate } of probes) {
    if (outcome === 'notProbed' || outcome === 'failed') continue
    const hour = at - (at % SECONDS_PER_HOUR)
    const key = `${hour} ${candidate.prior}`
    const outcomes = all.get(key) ?? { hour, kind: candidate.prior, probes: 0, servfail: 0, nxdomain: 0, noWebsite: 0 }
    outcomes.probes++
    if (outcome !== 'ok') outcomes[outcome]++
    all.set(key, outcomes)
  }
  return [...all.values()]
}
