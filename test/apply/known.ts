/** What is known of one name, carried from one batch of observations to the next as a store would. */

import { apply, begin, changeOf, type Outcome } from '../../src/apply/apply.ts'
import type { Change, Superseded } from '../../src/apply/change.ts'
import { type Current, NO_CLOCKS, NOTHING_KNOWN, type Visit } from '../../src/apply/known.ts'
import { prepare } from '../../src/apply/prepare.ts'
import type { Observation } from '../../src/observe/observation.ts'
import type { Name } from '../../src/words/name.ts'

export type Known = { visit: Visit; current: Current }
export type Step = { known: Known; change: Change | null; outcomes: Outcome[] }

export function nothing(name: Name): Known {
  const visit = { name, version: 0, clocks: NO_CLOCKS, dnsPrint: 0, webPrint: 0, due: 0, failures: 0, forgotten: false }
  return { visit, current: NOTHING_KNOWN }
}

/** Applies one batch, and saves it as a store would. */
export function step(known: Known, batch: readonly Observation[]): Step {
  const draft = begin(known.visit, known.current)
  const outcomes = batch.map((observation) => apply(draft, prepare(observation)))
  const change = changeOf(draft)
  if (!change) return { known, change, outcomes }
  const visit = { ...change.visit, version: known.visit.version + 1 }
  return { known: { visit, current: change.facts?.current ?? known.current }, change, outcomes }
}

/** Applies observations one by one: what is known in the end, every outcome, and every state that was superseded. */
export function live(
  known: Known,
  observations: readonly Observation[],
  between: (known: Known) => Known = (same) => same,
): { known: Known; outcomes: Outcome[]; superseded: Superseded[] } {
  const outcomes: Outcome[] = []
  const superseded: Superseded[] = []
  let now = known
  for (const observation of observations) {
    const { known, change, outcomes: fresh } = step(between(now), [observation])
    outcomes.push(...fresh)
    superseded.push(...(change?.facts?.superseded ?? []))
    now = known
  }
  return { known: now, outcomes, superseded }
}
