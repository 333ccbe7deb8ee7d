/** The part of the job `prune` that removes old history, in slices beside readers and writers. It can be resumed. */

import type { LockClock } from './named-lock.ts'
import type { LockHold } from './port/jobs.ts'
import type { PrunedStates, StateCutoffs } from './port/retention.ts'
import type { Store, StoreMaintenance } from './port/store.ts'
import { yieldToEventLoop } from './shared/event-loop.ts'

/** `hold`: null only counts what would go. `onProgress` receives the share of the store that is done, 0 to 1. */
export type HistoryPrune = {
  cutoffs: StateCutoffs
  hold: LockHold | null
  clock: LockClock
  signal: AbortSignal
  /** Milliseconds after which the run ends, although it is not complete. By default never. */
  maxDuration?: number | undefined
  onProgress?: (pruned: PrunedStates, share: number) => void
}

/** `after`: the place of the last search that was completed. */
type StoredPrune = { after: string }

/** Names with superseded states that one search reads. */
const SEARCHED_NAMES = 1000
/**
 * Milliseconds after each transaction, or as long as it took. Without it, a merge of the inverse index would always have
 * to read again.
 */
const MIN_PAUSE_MS = 150
const PRUNE_JOB = 'prune-history'

/**
 * Searches all names, or as many as it can in a limited time. After that, an abort or a crash, the next run continues
 * behind the last search that was completed, with its own cutoffs. Returns null if the lock is lost. While the inverse
 * index of an older store is filled in, it removes nothing.
 */
export async function pruneHistory(
  { pruning, maintenance, inverse }: Pick<Store, 'pruning' | 'maintenance' | 'inverse'>,
  { cutoffs, hold, clock, signal, maxDuration = Number.POSITIVE_INFINITY, onProgress = () => {} }: HistoryPrune,
): Promise<PrunedStates | null> {
  const total: PrunedStates = { names: 0, states: 0 }
  const began = clock.monotonicMs()
  if (Object.keys(cutoffs).length === 0 || (await inverse.progress()).share < 1) {
    if (hold !== null) await maintenance.saveProgress(PRUNE_JOB, null)
    return total
  }
  const stored = hold === null ? null : await maintenance.progress(PRUNE_JOB)
  let after: string | null = stored === null ? null : (JSON.parse(stored) as StoredPrune).after
  do {
    await yieldToEventLoop() // an engine may answer without yielding to the event loop
    const { names, next, share } = await pruning.candidates(cutoffs, after, SEARCHED_NAMES)
    for (let from = 0; from < names.length; from += pruning.namesPerTransaction) {
      signal.throwIfAborted()
      const startedAt = clock.monotonicMs()
      const some = names.slice(from, from + pruning.namesPerTransaction)
      const pruned = await (hold === null ? pruning.prunable(some, cutoffs) : pruning.prune(hold, some, cutoffs))
      if (pruned === null) return null
      total.names += pruned.names
      total.states += pruned.states
      const pause = Math.max(MIN_PAUSE_MS, clock.monotonicMs() - startedAt)
      if (hold !== null && pruned.names > 0) await clock.wait(pause, signal)
    }
    signal.throwIfAborted()
    onProgress(total, share)
    after = next
    if (hold !== null)
      await maintenance.saveProgress(PRUNE_JOB, next && JSON.stringify({ after: next } satisfies StoredPrune))
  } while (after !== null && clock.monotonicMs() - began < maxDuration)
  return total
}

/** Whether a run has ended, or was killed, before it had searched all names. */
export async function isHistoryPruneIncomplete(maintenance: Pick<StoreMaintenance, 'progress'>): Promise<boolean> {
  return (await maintenance.progress(PRUNE_JOB)) !== null
}
