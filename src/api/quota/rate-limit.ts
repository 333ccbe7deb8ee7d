/** The daily limit of an account, and the refusal of a call beyond it. */

import { secondsToMidnight } from '../../values/time.ts'
import type { Caller } from '../auth/authenticator.ts'
import { ApiError } from '../errors.ts'

/** Units a day. An account without a limit takes them for files alone, of which there are fewer. */
export function dailyLimitOf({ limits }: Caller): number {
  return limits.dailyCalls ?? 2 ** 31 - 1
}

/** `used`: units that are spent today. */
export function rateLimitError(caller: Caller, used: number): ApiError {
  const limit = dailyLimitOf(caller)
  const retryAfter = secondsToMidnight(caller.now)
  const msg = `The daily limit of ${limit} calls is reached; it begins anew in ${retryAfter} seconds.`
  return new ApiError('rate_limited', { msg, extra: { limit, used }, retryAfter })
}
