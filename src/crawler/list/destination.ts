/** Where observations go: into the store, or to the end of a file. */

import { resolve } from 'node:path'
import { DEFAULT_PROBE_INTERVALS, type ProbeIntervals } from '../../apply/next-probe.ts'
import { CommandFault } from '../../config/command-fault.ts'
import { probeIntervalsOf } from '../../config/probe-intervals.ts'
import type { Settings } from '../../config/settings.ts'
import type { Observation } from '../../observe/observation.ts'
import type { RateLimitTargets } from '../../probe/policy/politeness-limiter.ts'
import { printDiskSpace } from '../../server/disk-space.ts'
import { DiskSpaceMonitor, storePaths } from '../../store/disk-space.ts'
import { type IngestOutcome, ingest } from '../../store/ingest.ts'
import { openStore } from '../../store/open.ts'
import type { OutcomeCount } from '../../store/port/schedule.ts'
import type { Store } from '../../store/port/store.ts'
import { redactedStoreUrl } from '../../store/port/url.ts'
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

/** Throws StoreFault where the store cannot be opened. */
export async function openStoreDestination(settings: Settings): Promise<Destination> {
  const { store: url, secret, pool } = settings
  const rhythm = probeIntervalsOf(settings)
  const store = await openStore(url, { access: 'write', ledger: 'own', secret, pool })
  return storeDestination(
    store,
    redactedStoreUrl(url).replace(/(?<=^sqlite:).*/s, (path) => resolve(path)),
    rhythm,
  )
}

/** `close` closes the store. */
export function storeDestination(store: Store, label: string, rhythm?: ProbeIntervals): Destination {
  return {
    isFile: false,
    label,
    targetsOf: (name) => readKnownTargets(store, name, rhythm ?? DEFAULT_PROBE_INTERVALS),
    history: {
      outcomeHistory: (since) => store.schedule.outcomes(since),
      now: () => store.now(),
      add: (outcomes) => store.schedule.addOutcomes(outcomes),
    },
    write: (batch) => ingest(store, batch, rhythm && { intervals: rhythm }),
    close: () => store.close(),
  }
}

async function readKnownTargets(
  { observations: frontier }: Store,
  name: DomainName,
  rhythm: ProbeIntervals,
): Promise<KnownTargets | null> {
  const [state] = await frontier.crawlStates([name])
  if (state!.forgotten) return null
  if (state!.version === 0) return UNKNOWN_NAME
  const [current] = await frontier.currentFacts([name])
  return { targets: targetsOf(current!), prior: priorStateOf(state!, current!, rhythm) }
}

/** Writes wait for room on the disk that they go to; a file takes a batch only when there is room, a store again as well. */
export function waitingDestination(destination: Destination, settings: Settings, signal: AbortSignal): Destination {
  const { isFile, label: to, write } = destination
  const store = isFile ? null : settings.store
  const diskSpace = new DiskSpaceMonitor({
    paths: store === null ? [to] : storePaths(store),
    minFree: settings.diskFree,
    notify: printDiskSpace,
  })
  const writeWhenSpace: Destination['write'] = async (batch) => {
    if (!isFile) return diskSpace.write(() => write(batch), signal)
    await diskSpace.wait(signal)
    return write(batch)
  }
  return { ...destination, write: (batch) => writeWhenSpace(batch).catch(throwIfStopped) }
}

/** A crawl that is stopped while it waits for room has not written what it saw last. */
function throwIfStopped(error: unknown): never {
  if ((error as Error).name !== 'AbortError') throw error
  throw new CommandFault('stopped without room for what was seen last, which is not written: run it again to go on')
}
