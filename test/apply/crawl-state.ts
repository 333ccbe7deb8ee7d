/** The state of one name, passed from one batch of observations to the next as a store would do. */

import { type ApplyOutcome, applyObservation } from '../../src/apply/apply.ts'
import type { Change, SupersededState } from '../../src/apply/change.ts'
import { type CrawlState, type CurrentFacts, NO_FACTS, unknownCrawlState } from '../../src/apply/crawl-state.ts'
import { changeOf, startDraft } from '../../src/apply/draft.ts'
import { prepareObservation } from '../../src/apply/prepare.ts'
import type { Observation } from '../../src/observe/observation.ts'
import type { DomainName } from '../../src/values/domain-name.ts'

export type Known = { visit: CrawlState; current: CurrentFacts }
export type Step = { known: Known; change: Change | null; outcomes: ApplyOutcome[] }

export function nothing(name: DomainName): Known {
  return { visit: unknownCrawlState(name), current: NO_FACTS }
}

/** Applies one batch and saves it as a store would. */
export function step(known: Known, batch: readonly Observation[]): Step {
  const draft = startDraft(known.visit, known.current)
  const outcomes = batch.map((observation) => applyObservation(draft, prepareObservation(observation)))
  const change = changeOf(draft)
  if (!change) return { known, change, outcomes }
  const visit = { ...change.state, version: known.visit.version + 1 }
  return { known: { visit, current: change.facts?.current ?? known.current }, change, outcomes }
}

/** Applies observations one by one. Returns the final state, every outcome, and every superseded state. */
export function live(
  known: Known,
  observations: readonly Observation[],
  between: (known: Known) => Known = (same) => same,
): { known: Known; outcomes: ApplyOutcome[]; superseded: SupersededState[] } {
  const outcomes: ApplyOutcome[] = []
  const superseded: SupersededState[] = []
  let now = known
  for (const observation of observations) {
    const { known, change, outcomes: fresh } = step(between(now), [observation])
    outcomes.push(...fresh)
    superseded.push(...(change?.facts?.superseded ?? []))
    now = known
  }
  return { known: now, outcomes, superseded }
}
