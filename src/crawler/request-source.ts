/** The port of a request source: which names a crawl probes, and what becomes of a name after its probe. */

import type { Observation } from '../observe/observation.ts'
import type { RateLimitTargets } from '../probe/policy/politeness-limiter.ts'
import type { ProbeResult } from '../probe/probe-result.ts'
import type { IngestOutcome } from '../store/ingest.ts'
import type { Lease } from '../store/port/schedule.ts'
import type { DomainName } from '../values/domain-name.ts'
import type { IpAddress } from '../values/ip-address.ts'
import type { Instant } from '../values/time.ts'
import type { PriorState } from './anomaly/prior-state.ts'
import type { ProbeKind } from './queue/kind-selector.ts'
import type { ProbeOutcome } from './status/stats.ts'

/** A name that waits for its probe, is being probed, or has an unsaved result. */
export type Candidate = {
  /** Unique in a session. */
  id: string | number
  name: DomainName
  kind: ProbeKind
  prior: PriorState
  /** The known targets of its probe. */
  targets: RateLimitTargets
}

/** The result of a probe, and what it says about the name. */
export type ObservedProbe = { result: ProbeResult; observation: Observation }

/**
 * A finished probe. `observation` is null if there is nothing to write. `deferredAt`: the address with a wait that was
 * too long, or null.
 */
export type FinishedProbe<C extends Candidate> = {
  candidate: C
  at: Instant
  observation: Observation | null
  outcome: ProbeOutcome
  deferredAt: IpAddress | null
  /** The domains that the probe revealed; unknown ones are added with the observation. */
  revealed?: readonly DomainName[]
}

/** What a sink did with an observation. */
export type WriteOutcome = IngestOutcome | 'written'

/** A source of one session. It admits candidates to the session, and learns what becomes of each. */
export type RequestSource<C extends Candidate> = {
  /** Called once before the first candidate. A failure pauses the session. */
  open?(): Promise<void>
  /** Tasks that admit candidates until the session ends. */
  readonly tasks?: readonly (() => Promise<void>)[]
  /**
   * Called if up to `free` probes may start and no candidate is ready. May admit candidates or end the session. Returns
   * the milliseconds until it should be called again.
   */
  refill(free: number): number
  /** Whether the probe of a candidate may start at `now`, in milliseconds. */
  mayStart(candidate: C, now: number): boolean
  /** Takes back a candidate that was not probed: it may not start, or its wait is too long (`isRejected`). */
  takeBack(candidate: C, isRejected: boolean): void
  /**
   * Returns the result for the next batch, or null if the source took the candidate back. `probed` is null after a
   * program error.
   */
  finish(candidate: C, probed: ObservedProbe | null, outcome: ProbeOutcome): FinishedProbe<C> | null
  /** Whether no request is left, apart from the candidates of the session. */
  isExhausted(): boolean
  /** The leases under which results are written, if names are leased. */
  leases?(): readonly Lease[]
  /** Records a written batch. `outcomes` has one for each observation. Returns the probes that count. */
  settle(
    batch: readonly FinishedProbe<C>[],
    outcomes: ReadonlyMap<FinishedProbe<C>, WriteOutcome>,
  ): Promise<readonly FinishedProbe<C>[]>
  /** Called after each verification. Gives up what has no open candidates. */
  checkpoint?(): Promise<void>
  /** Called once at the end. The candidates that are still in the session have no result. */
  close(): Promise<void>
}
