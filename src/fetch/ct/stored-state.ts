/** What the store keeps of a followed log, as JSON text. */

import type { Instant } from '../../values/time.ts'
import type { LogBatch, LogState } from './log.ts'

/**
 * `newest`: the time of the last entry. `entries`, `newNames`: read so far, and names that the store did not have. They
 * only grow, as metrics need it.
 */
export type FollowedState = LogState & { newest: Instant; entries: number; newNames: number }

/** Returns null for null. Throws SyntaxError for a text that is no JSON. */
export function parseFollowedState(text: string | null): FollowedState | null {
  return text === null ? null : (JSON.parse(text) as FollowedState)
}

/** The state after a batch of which `newNames` were unknown. */
export function nextFollowedState(before: FollowedState | null, batch: LogBatch, newNames: number): FollowedState {
  return {
    ...batch.state,
    newest: batch.newest,
    entries: (before?.entries ?? 0) + batch.entries,
    newNames: (before?.newNames ?? 0) + newNames,
  }
}
