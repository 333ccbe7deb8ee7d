/** The daily limit of an account: its headers, the API error of a call above it, and its state. */

import { addDays, type Instant, secondsToMidnight, startOfDay } from '../../values/time.ts'
import type { Caller } from '../auth/authenticator.ts'
import { ApiError } from '../http/errors.ts'

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

/** `limit` and `remaining` are null for an account without a limit. `reset`: when the next day starts. */
type QuotaStatus = { limit: number | null; used: number; remaining: number | null; reset: Instant }

/**
 * What a status reads. `settleServer`: lets all processes of this server settle, so that no charge of theirs is
 * missing.
 */
type QuotaStatusContext = {
  quotaLimiter: { used: (caller: Caller) => Promise<number> }
  settleServer: () => Promise<void>
}

export async function quotaStatus(
  { quotaLimiter, settleServer }: QuotaStatusContext,
  caller: Caller,
): Promise<QuotaStatus> {
  await settleServer()
  const used = await quotaLimiter.used(caller)
  const limit = caller.limits.dailyCalls
  const remaining = limit === null ? null : Math.max(0, limit - used)
  return { limit, used, remaining, reset: startOfDay(addDays(caller.today, 1)) }
}

/**
 * RateLimit-Policy and RateLimit (draft-ietf-httpapi-ratelimit-headers-10) for a caller with `remaining` calls; none if
 * the caller has no limit.
 */
export function rateLimitHeaders({ limits, now }: Caller, remaining: number): string[] {
  if (limits.dailyCalls === null) return []
  return [
    'RateLimit-Policy',
    `"daily";q=${limits.dailyCalls};w=86400`,
    'RateLimit',
    `"daily";r=${remaining};t=${secondsToMidnight(now)}`,
  ]
}
