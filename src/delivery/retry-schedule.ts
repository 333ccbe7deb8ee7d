/** When a failed message is tried again, and when its webhook pauses. Pure. All times in seconds. */

import { type Instant, SECONDS_PER_DAY } from '../values/time.ts'

const MINUTE = 60
const HOUR = 3_600

/** The delays of Standard Webhooks after each failed attempt; the last one repeats. */
const RETRY_DELAYS = [5, 5 * MINUTE, 30 * MINUTE, ...[2, 5, 10, 14, 20, 24].map((hours) => hours * HOUR)] as const
/** A delay is changed by up to this share at random, so that the retries of many events spread. */
const JITTER = 0.1

/** After this time, a message that fails is not tried again. */
export const RETRY_SECONDS = 3 * SECONDS_PER_DAY

/** Failures in a row from which on the receiver counts as down, and the webhook pauses. */
export const DOWN_FAILURES = 3
/** The pauses after each further failure; the last one repeats. */
const PAUSES = [MINUTE, 5 * MINUTE, 15 * MINUTE, HOUR] as const

/** The maximum that a receiver can ask for with Retry-After. */
const MAX_RETRY_AFTER = HOUR

/** Failed attempts of a message: how many, and since when they count. `random`: from 0 to 1. */
type FailedAttempts = { attempts: number; since: Instant; retryAfter: number | null; random: number }

/** The time of the next attempt; null if the time for retries is over. The last attempt is at its end. */
export function nextAttempt({ attempts, since, retryAfter, random }: FailedAttempts, now: Instant): Instant | null {
  const end = since + RETRY_SECONDS
  if (now >= end) return null
  const delay = RETRY_DELAYS[Math.min(attempts, RETRY_DELAYS.length) - 1]! * (1 + JITTER * (2 * random - 1))
  return Math.min(end, now + Math.max(1, Math.round(delay), boundedRetryAfter(retryAfter)))
}

/** Seconds for which nothing is sent after so many failures in a row; 0: go on. */
export function pauseAfter(failures: number, retryAfter: number | null): number {
  const pause = failures < DOWN_FAILURES ? 0 : PAUSES[Math.min(failures - DOWN_FAILURES, PAUSES.length - 1)]!
  return Math.max(pause, boundedRetryAfter(retryAfter))
}

function boundedRetryAfter(seconds: number | null): number {
  return Math.min(seconds ?? 0, MAX_RETRY_AFTER)
}
