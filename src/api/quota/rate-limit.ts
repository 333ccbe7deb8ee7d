/** The daily limit of an account, and the API error of a call above it. */

import { secondsToMidnight } from '../../values/time.ts'
import type { Caller } from '../auth/authenticator.ts'
import { ApiError } from '../errors.ts'

/** Units per day. An account without a limit takes units only for files, and there are fewer files than this number. */
export function dailyLimitOf({ limits }: Caller): number {
  return limits.dailyCalls ?? 2 ** 31 - 1
}

/** `used`: the units spent today. */
export function rateLimitError(caller: Caller, used: number): ApiError {
  const limit = dailyLimitOf(caller)
  const retryAfter = secondsToMidnight(caller.now)
  const msg = `The daily limit of ${limit} calls is reached: try again in ${retryAfter} seconds, after midnight UTC.`
  return new ApiError('rate_limited', { msg, extra: { limit, used }, retryAfter })
}
