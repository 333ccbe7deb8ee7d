/** How an account's daily budget is handed out to processes. */

/** Seconds after which a process that was not heard of counts as gone, and what it held as spent. */
export const SILENCE = 2

/** Up to this many units left, each is taken and spent singly. */
const SINGLE_UNITS = 1_000

/** Units that a process takes at once, at most. */
const MOST_UNITS = 64

/** Where units are left, how many are granted: one that is spent at once, or some that the process holds. */
export type Share = { units: number; as: 'spent' | 'held' }

/**
 * The share of a process that wants `want` units of the `free` ones that are neither spent nor held, 1 or more, beside
 * which `live` processes (itself included) may want some too.
 */
export function shareOf(free: number, want: number, live: number): Share {
  if (free <= SINGLE_UNITS) return { units: 1, as: 'spent' }
  return { units: Math.max(1, Math.min(want, MOST_UNITS, Math.floor(free / (8 * live)))), as: 'held' }
}
