/** The port of the two interfaces of certificate logs: verified heads, and verified entries up to a head. */

import type { LogState } from '../log.ts'
import type { EntrySummary } from './log-entry.ts'
import type { TreeHead } from './tree-head.ts'

/**
 * Distinct names of verified entries, and of entries that are not verified yet, above which no further entry is read
 * before they are passed on. 4,000 entries of honest logs have fewer.
 */
export const MAX_NAMES_IN_MEMORY = 8_192

/** The same for the bytes of entries whose certificates are kept. 4,000 entries of honest logs have about as many. */
export const MAX_KEPT_CERTIFICATE_BYTES = 2 ** 23

/** `hashes`: what a state keeps beside the position. */
export type VerifiedEntries = { summary: EntrySummary; hashes: readonly string[] }

export interface EntrySource {
  /** Returns the current head, with a valid signature. */
  head(): Promise<TreeHead>
  /** Throws LogFault unless the tree of `head` begins with the tree of the former head. */
  requireConsistency(former: LogState['head'], head: TreeHead): Promise<void>
  /** Returns a state at `position`, which is before the end of the tree, or shortly after it. */
  startAt(position: number, head: TreeHead): Promise<Pick<LogState, 'position' | 'hashes'>>
  /** Yields the entries from a state to the head. Each batch is verified up to the root of the head. */
  entries(from: Pick<LogState, 'position' | 'hashes'>, head: TreeHead): AsyncGenerator<VerifiedEntries>
}
