/** How an account's daily budget is handed out to processes. */

/** Seconds after which a process that was not heard of counts as gone, and what it held as spent (see `callRoll`). */
export const LEASE_TIMEOUT_SECONDS = 2

/** Up to this many units left, each is taken and spent singly. */
export const SINGLE_UNIT_THRESHOLD = 1_000

/** Units that a process takes at once, at most. */
export const MAX_LEASE_UNITS = 64

/**
 * How many units a process gets that wants `want` of the `free` ones (1 or more), which nobody spent or holds, where
 * `live` processes, itself included, may want some. A single unit is spent at once; several are held.
 */
export function leaseSize(remaining: number, requested: number, liveProcesses: number): number {
  return remaining <= SINGLE_UNIT_THRESHOLD
    ? 1
    : Math.max(1, Math.min(requested, MAX_LEASE_UNITS, Math.floor(remaining / (8 * liveProcesses))))
}

/** How many seconds ago the ledger heard of a process; negative if the clock was set back. */
export type HolderSilence = { holder: string; seconds: number }

/** The processes other than our own: how many live, which are gone, and whose silence counts anew. */
export type HolderStatus = { liveCount: number; expired: readonly string[]; renewed: readonly string[] }

/**
 * Judges the processes other than `ours` by their silence, and ours by what it was before this word. If the ledger heard of
 * nobody for more than SILENCE, the ledger was away and not they: each of them gets the time anew. Who is spared keeps its
 * hold, so no unit is given twice; and somebody who waits for a hold asks again and again, so a dead process goes in the end.
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
