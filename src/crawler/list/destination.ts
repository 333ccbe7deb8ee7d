/** Where observations go: into the store, or to the end of a file. */

import { DEFAULT_PROBE_INTERVALS, type ProbeIntervals } from '../../apply/next-probe.ts'
import type { Observation } from '../../observe/observation.ts'
import type { RateLimitTargets } from '../../probe/policy/politeness-limiter.ts'
import { type IngestOutcome, ingest } from '../../store/ingest.ts'
import type { OutcomeCount } from '../../store/port/schedule.ts'
import type { Store } from '../../store/port/store.ts'
import type { DomainName } from '../../values/domain-name.ts'
import type { BatchVerification } from '../anomaly/batch-verification.ts'
import { type PriorState, priorStateOf } from '../anomaly/prior-state.ts'
import { targetsOf } from '../queue/admission.ts'

/** `past`: what the outcome of its visit is judged by. */
export type KnownTargets = { targets: RateLimitTargets; prior: PriorState }

/** A name of which nothing is known. */
export const UNKNOWN_NAME: KnownTargets = { targets: {}, prior: 'new' }

export type Destination = {
  /** Whether it is a file, in which half a batch may stay. */
  isFile: boolean
  /** What it is, for a crawl that goes on with the same one. */
  label: string
  /** Where a name was when it was last seen, and what was known of it; null for one that was forgotten, which is not visited either. */
  targetsOf(name: DomainName): Promise<KnownTargets | null>
  /** Resolves when the batch is written, with what became of each. */
  write(batch: readonly Observation[]): Promise<readonly (IngestOutcome | 'written')[]>
  /** What visits came to since a moment, and what these came to; nothing is known of that without a store. */
  history: Pick<BatchVerification, 'outcomeHistory' | 'now'> & { add(outcomes: readonly OutcomeCount[]): Promise<void> }
  close(): Promise<void>
}

/** `close` closes the store. */
export function storeDestination(store: Store, label: string, intervals?: ProbeIntervals): Destination {
  return {
    isFile: false,
    label,
    targetsOf: (name) => readKnownTargets(store, name, intervals ?? DEFAULT_PROBE_INTERVALS),
    history: {
      outcomeHistory: (since) => store.schedule.outcomes(since),
      now: () => store.now(),
      add: (outcomes) => store.schedule.addOutcomes(outcomes),
    },
    write: (batch) => ingest(store, batch, intervals && { intervals }),
    close: () => store.close(),
  }
}

async function readKnownTargets(
  { observations }: Store,
  name: DomainName,
  intervals: ProbeIntervals,
): Promise<KnownTargets | null> {
  const [state] = await observations.crawlStates([name])
  if (state!.forgotten) return null
  if (state!.version === 0) return UNKNOWN_NAME
  const [current] = await observations.currentFacts([name])
  return { targets: targetsOf(current!), prior: priorStateOf(state!, current!, intervals) }
}
