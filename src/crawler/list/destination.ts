/** The destination of a list crawl: the store, or the end of a file. */

import { DEFAULT_PROBE_INTERVALS, type ProbeIntervals } from '../../apply/next-probe.ts'
import type { RateLimitTargets } from '../../probe/policy/politeness-limiter.ts'
import type { Store } from '../../store/port/store.ts'
import type { DomainName } from '../../values/domain-name.ts'
import { type PriorState, priorStateOf } from '../anomaly/prior-state.ts'
import { targetsOf } from '../probe-targets.ts'
import { type ResultSink, storeSink } from '../result-sink.ts'

/** `prior`: the prior state for the anomaly detector. */
export type KnownTargets = { targets: RateLimitTargets; prior: PriorState }

/** A name without known facts. */
export const UNKNOWN_NAME: KnownTargets = { targets: {}, prior: 'new' }

export type Destination = ResultSink & {
  /** Whether it is a file, which may contain part of a batch after a failure. */
  isFile: boolean
  /** Identifies the destination, so that a resumed crawl uses the same one. */
  label: string
  /** The last known targets of a name and its prior state. Returns null for a forgotten name, which is not probed. */
  targetsOf(name: DomainName): Promise<KnownTargets | null>
  close(): Promise<void>
}

/** `close` closes the store. */
export function storeDestination(store: Store, label: string, intervals?: ProbeIntervals): Destination {
  return {
    ...storeSink(store, intervals),
    isFile: false,
    label,
    targetsOf: (name) => readKnownTargets(store, name, intervals ?? DEFAULT_PROBE_INTERVALS),
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
