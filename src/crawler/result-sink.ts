/** The port of a result sink: where a crawl writes its observations, and the outcomes of earlier probes. */

import type { ProbeIntervals } from '../apply/next-probe.ts'
import type { Observation } from '../observe/observation.ts'
import { ingest } from '../store/ingest.ts'
import type { Lease, OutcomeCount } from '../store/port/schedule.ts'
import type { Store } from '../store/port/store.ts'
import type { DomainName } from '../values/domain-name.ts'
import type { Instant } from '../values/time.ts'
import type { WriteOutcome } from './request-source.ts'

export type ResultSink = {
  /**
   * Resolves when the batch is written, with the outcome of each observation. `revealed`: for each observation, the
   * domains that its probe revealed; a store adds the unknown ones.
   */
  write(
    batch: readonly Observation[],
    options?: { leases?: readonly Lease[] | undefined; revealed?: readonly (readonly DomainName[])[] },
  ): Promise<readonly WriteOutcome[]>
  /** The outcomes of probes since a time, and a method to add more. A file has no history. */
  history: {
    outcomeHistory(since: Instant): Promise<readonly OutcomeCount[]>
    now(): Promise<Instant>
    add(outcomes: readonly OutcomeCount[]): Promise<void>
  }
}

export function storeSink(
  store: Pick<Store, 'observations' | 'schedule' | 'now'>,
  intervals?: ProbeIntervals,
): ResultSink {
  return {
    history: {
      outcomeHistory: (since) => store.schedule.outcomes(since),
      now: () => store.now(),
      add: (outcomes) => store.schedule.addOutcomes(outcomes),
    },
    write: (batch, { leases, revealed } = {}) =>
      ingest(store, batch, {
        ...(intervals && { intervals }),
        ...(leases && { leases }),
        ...(revealed && { revealed }),
      }),
  }
}
