/** Waits for a condition, or a moment. Only this file of the tests polls. */

import { setTimeout as wait } from 'node:timers/promises'

/** Milliseconds between two checks. */
const MOMENT = 10
/** Milliseconds until it gives up: far more than a busy machine needs, and less than a test file may take. */
const BOUND = 240_000

/**
 * Resolves to the first result of `look` other than false, null and undefined. Rejects after four minutes with `what`
 * in the message.
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

/** A pause between the requests of a load that lasts as long as something else, so that it does not fill the processor. */
export function pause(): Promise<void> {
  return wait(MOMENT)
}
