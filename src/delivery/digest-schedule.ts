/** When digests are written. Pure. All times in seconds. */

import type { DigestPeriod } from '../store/port/watch/digests.ts'
import { type Instant, SECONDS_PER_DAY } from '../values/time.ts'

const HOUR = 3_600
/** Daily mail is written at this time of day, UTC. */
const DAILY_SECONDS = 6 * HOUR
/** Seconds until a mail that was not accepted is tried again: twice as long each time, up to the maximum. */
const RETRY_SECONDS = 300
const MAX_RETRY_SECONDS = 6 * HOUR

/** The next mail after a time: at the full hour, or at 06:00 UTC. */
export function nextDigest(period: DigestPeriod, now: Instant): Instant {
  if (period === 'hourly') return (Math.floor(now / HOUR) + 1) * HOUR
  return (Math.floor((now - DAILY_SECONDS) / SECONDS_PER_DAY) + 1) * SECONDS_PER_DAY + DAILY_SECONDS
}

/** The next attempt after so many failures in a row. */
export function retryDigest(failures: number, now: Instant): Instant {
  return now + Math.min(RETRY_SECONDS * 2 ** (failures - 1), MAX_RETRY_SECONDS)
}
