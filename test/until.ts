/** Waiting for what a test waits for: the one place of the tests that looks, waits a moment and looks again. */

import { setTimeout as wait } from 'node:timers/promises'

/** Milliseconds between two looks. */
const MOMENT = 10
/** Milliseconds after which it is given up: far more than a busy machine needs, and less than a test file may take. */
const BOUND = 240_000

/**
 * Resolves as soon as `look` gives something other than false, null and undefined, with what it gave. Rejects after
 * four minutes, naming `what` is waited for.
 */
export async function until<Seen>(
  look: () => Seen | Promise<Seen>,
  what: string = String(look),
): Promise<Exclude<Seen, false | null | undefined>> {
  for (const end = performance.now() + BOUND; performance.now() < end; await wait(MOMENT)) {
    const seen = await look()
    if (seen !== false && seen !== null && seen !== undefined) return seen as Exclude<Seen, false | null | undefined>
  }
  throw new Error(`waited in vain for ${what}`)
}
