/** How an account's daily budget is handed out to processes. */

/** Seconds after which a process that was not heard of counts as gone, and what it held as spent (see `callRoll`). */
export const SILENCE = 2

/** Up to this many units left, each is taken and spent singly. */
export const SINGLE_UNITS = 1_000

/** Units that a process takes at once, at most. */
export const MOST_UNITS = 64

/**
 * How many units a process gets that wants `want` of the `free` ones (1 or more), which nobody spent or holds, where
 * `live` processes, itself included, may want some. A single unit is spent at once; several are held.
 */
export function shareOf(free: number, want: number, live: number): number {
  return free <= SINGLE_UNITS ? 1 : Math.max(1, Math.min(want, MOST_UNITS, Math.floor(free / (8 * live))))
}

/** How many seconds ago the ledger heard of a process; negative if the clock was set back. */
export type Silence = { holder: string; seconds: number }

/** The processes other than our own: how many live, which are gone, and whose silence counts anew. */
export type Roll = { live: number; gone: readonly string[]; spared: readonly string[] }

/**
 * Judges the processes other than `ours` by their silence, and ours by what it was before this word. If the ledger heard of
 * nobody for more than SILENCE, the ledger was away and not they: each of them gets the time anew. Who is spared keeps its
 * hold, so no unit is given twice; and somebody who waits for a hold asks again and again, so a dead process goes in the end.
 */
export function callRoll(silences: readonly Silence[], ours: readonly string[]): Roll {
  const others = silences.filter(({ holder }) => !ours.includes(holder))
  const silent = others.filter(isTooLong).map(({ holder }) => holder)
  if (silences.every(isTooLong)) return { live: others.length, gone: [], spared: silent }
  return { live: others.length - silent.length, gone: silent, spared: [] }
}

function isTooLong({ seconds }: Silence): boolean {
  return seconds > SILENCE
}
