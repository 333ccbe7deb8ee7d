/** Waits for a condition, or a moment. Only this file of the tests polls. */

import { setTimeout as wait } from 'node:timers/promises'

/** Milliseconds between two checks: a tenth of the time that it has waited, within these bounds. */
const MOMENT = 10
const LONG_MOMENT = 100
const WAITED_SHARE = 10
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
  const start = performance.now()
  for (let waited = 0; waited < BOUND; waited = performance.now() - start) {
    const seen = await look()
    if (seen !== false && seen !== null && seen !== undefined) return seen as Exclude<Seen, false | null | undefined>
    await wait(Math.min(Math.max(MOMENT, waited / WAITED_SHARE), LONG_MOMENT))
  }
  throw new Error(`waited in vain for ${what}`)
}

/**
 * A pause between the requests of a load that lasts as long as something else, so that it does not fill the processor.
 * `isLong`: while the test only waits for that.
 */
export function pause(isLong = false): Promise<void> {
  return wait(isLong ? LONG_MOMENT : MOMENT)
}
