/** The retention's part of the port: removes what is older than the settings keep it. */

import type { DomainName } from '../../values/domain-name.ts'
import type { StateType } from '../../values/state-type.ts'
import type { Instant } from '../../values/time.ts'
import type { LockHold } from './jobs.ts'

/**
 * The beginning of the kept time of each type; a type without one is kept. The state that was in force then stays, with
 * everything later.
 */
export type StateCutoffs = Readonly<Partial<Record<StateType, Instant>>>

/** The row of `metadata` with the newest cutoff of each type, as JSON. */
export const PRUNED_UNTIL = 'pruned_until'

/** The names that lose states, and those states. */
export type PrunedStates = { names: number; states: number }

/**
 * The next names that may have states to remove. `next`: where to continue, null at the end. `share`: how much of the
 * store was searched, 0 to 1.
 */
export type PruneCandidates = { names: DomainName[]; next: string | null; share: number }

/** For the job that removes old history from the facts. */
export interface FactsPruning {
  /** Searches the superseded states of the next `limit` names that have any. `after`: `next` of the call before. */
  candidates(cutoffs: StateCutoffs, after: string | null, limit: number): Promise<PruneCandidates>
  /** The number of names that one transaction should prune, so that no writer waits for long. */
  readonly namesPerTransaction: number
  /** What `prune` would remove from these names. */
  prunable(names: readonly DomainName[], cutoffs: StateCutoffs): Promise<PrunedStates>
  /**
   * Removes the superseded states that were replaced by the cutoff of their type, with everything that only they say:
   * interruptions, entries of the inverse index, first times on addresses, certificates. One transaction. Returns null
   * if the lock is lost.
   */
  prune(hold: LockHold, names: readonly DomainName[], cutoffs: StateCutoffs): Promise<PrunedStates | null>
  /**
   * Gives some unused space of the store's file back to the disk, in one short write. Returns false if none is left that
   * is worth it, or if the engine does this by itself.
   */
  releaseSpace(): Promise<boolean>
}

/**
 * Rows of the ledger that age. `usage`: by token, endpoint and day, also of deleted accounts. `audit`: the audit log.
 * `expired`: sessions, links, counts of attempts and answers that have ended, and what counts by day.
 */
export const LEDGER_KINDS = ['usage', 'audit', 'expired'] as const
export type LedgerKind = (typeof LEDGER_KINDS)[number]

/** `next`: where the next slice begins; null if none is left. */
export type LedgerSlice = { removed: number; next: number | null }

/** For the job that removes old rows of the ledger. */
export interface LedgerPruning {
  /**
   * Removes rows from before an instant, or those that have expired by `now`, in one short transaction. `after`: `next`
   * of the call before, 0 at first.
   */
  prune(kind: LedgerKind, before: Instant, after: number, now: Instant): Promise<LedgerSlice>
  /** The number of rows that `prune` would remove. */
  prunableRows(kind: LedgerKind, before: Instant, now: Instant): Promise<number>
}
