/** Outcomes of probes, counted by hour and prior state. Pure. */

import type { OutcomeCount } from '../../store/port/schedule.ts'
import type { Instant } from '../../values/time.ts'
import type { ProbeOutcome } from '../status/stats.ts'
import type { PriorState } from './prior-state.ts'

const SECONDS_PER_HOUR = 3_600

/** The outcome of a probe and the prior state of its name. */
type CountableProbe = { at: Instant; outcome: ProbeOutcome; candidate: { prior: PriorState } }

/** Counts by hour and prior state. Leaves out names that could not be probed. */
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
