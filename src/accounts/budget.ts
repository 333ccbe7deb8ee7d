/** How an account's daily budget is handed out to processes. */

/** Seconds after which a process that was not heard of counts as gone, and what it held as spent. */
export const SILENCE = 2

/** Up to this many units left, each is taken and spent singly. */
const SINGLE_UNITS = 1_000

/** Units that a process takes at once, at most. */
const MOST_UNITS = 64

/**
 * How many units a process gets that wants `want` of the `free` ones (1 or more), which nobody spent or holds, where
 * `live` processes, itself included, may want some. A single unit is spent at once; several are held.
 */
export function shareOf(free: number, want: number, live: number): number {
  return free <= SINGLE_UNITS ? 1 : Math.max(1, Math.min(want, MOST_UNITS, Math.floor(free / (8 * live))))
}
