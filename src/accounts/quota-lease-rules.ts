/** Rules for token leases: how the processes of an installation share the daily budget of an account. */

import { addDays, type Day, dayOf, type Instant } from '../values/time.ts'

/**
 * If the ledger has not heard from a process for this many seconds, its leases expire: their units count as spent until
 * it returns.
 */
export const LEASE_TIMEOUT_SECONDS = 2

/** If at most this many units remain, the ledger grants single units. */
export const SINGLE_UNIT_THRESHOLD = 1_000

/** The maximum number of units in a token lease: as many as a batch has lines. Single calls request fewer. */
export const MAX_LEASE_UNITS = 1_024

/**
 * Returns the number of units in a token lease. `remaining` units (1 or more) are neither spent nor leased, and
 * `liveProcesses` processes, this one included, may need some. A single unit is spent immediately.
 */
export function leaseSize(remaining: number, requested: number, liveProcesses: number): number {
  return remaining <= SINGLE_UNIT_THRESHOLD
    ? 1
    : Math.max(1, Math.min(requested, MAX_LEASE_UNITS, Math.floor(remaining / (8 * liveProcesses))))
}

/** Returns the first day whose expired leases are kept: calls of the day before may still be in flight. */
export function firstRestorableDay(now: Instant): Day {
  return addDays(dayOf(now), -1)
}

/** The seconds since the ledger last heard from a process; negative if the clock was set back. */
export type HolderSilence = { holder: string; seconds: number }

/** The other processes: how many are live, which have expired, and whose timeout restarts. */
export type HolderStatus = { liveCount: number; expired: readonly string[]; renewed: readonly string[] }

/**
 * Classifies the other processes by their silence. The silence of `ownHolders` is the one before this message.
 * If every process was silent for more than LEASE_TIMEOUT_SECONDS, the ledger was unavailable, not the processes. Then
 * the timeout of each process restarts and it keeps its lease, so callers wait for its units instead of being rejected.
 * A process that waits for units retries, so the lease of a dead process expires in the end.
 */
export function classifyHolders(silences: readonly HolderSilence[], ownHolders: readonly string[]): HolderStatus {
  const others = silences.filter(({ holder }) => !ownHolders.includes(holder))
  const silent = others.filter(isExpired).map(({ holder }) => holder)
  if (silences.every(isExpired)) return { liveCount: others.length, expired: [], renewed: silent }
  return { liveCount: others.length - silent.length, expired: silent, renewed: [] }
}

function isExpired({ seconds }: HolderSilence): boolean {
  return seconds > LEASE_TIMEOUT_SECONDS
}
