/** The daily limit of an account, and the refusal of a call beyond it. */

import { secondsToMidnight } from '../words/time.ts'
import { Refusal } from './errors.ts'
import type { Caller } from './gate.ts'

/** Units a day. An account without a limit takes them for files alone, of which there are fewer. */
export function limitOf({ limits }: Caller): number {
  return limits.queries ?? 2 ** 31 - 1
}

/** `used`: units that are spent today. */
export function rateLimited(caller: Caller, used: number): Refusal {
  const limit = limitOf(caller)
  const retryAfter = secondsToMidnight(caller.now)
  const msg = `The daily limit of ${limit} calls is reached; it begins anew in ${retryAfter} seconds.`
  return new Refusal('rate_limited', { msg, extra: { limit, used }, retryAfter })
}
