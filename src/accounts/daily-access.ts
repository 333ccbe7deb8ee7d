/** Decides which daily files an account may download. */

import { addDays, type Day } from '../values/time.ts'
import type { Account } from './account.ts'
import type { Period } from './period.ts'

/** Access to the file of a date. All states but `allowed` are keys of API errors. Days are the dates of files. */
export type DailyAccess =
  | { state: 'allowed'; plan: Period['plan'] }
  | { state: 'plan_required' }
  | { state: 'no_subscription' }
  | { state: 'before_subscription'; earliest: Day }
  | { state: 'after_subscription'; latest: Day }
  /** Between two periods: files are available until `latest`, and again from `earliest` on. */
  | { state: 'outside_subscription'; latest: Day; earliest: Day }

/**
 * Returns the access to the file dated `date` on the day `today`. The file may not exist. A file is built in the night
 * after its date. Therefore a period includes the files from the day before its first day to the day before its last.
 * The plan local includes all files.
 */
export function dailyAccess({ plan, periods }: Pick<Account, 'plan' | 'periods'>, date: Day, today: Day): DailyAccess {
  if (plan === 'local') return { state: 'allowed', plan: 'premium' }
  if (plan === 'free' && !periods.some(({ first }) => first <= today)) return { state: 'plan_required' }
  const earlier = periods.findLast((period) => earliestFileDay(period) <= date)
  const later = periods.find((period) => earliestFileDay(period) > date)
  const latest = earlier === undefined ? null : latestFileDay(earlier)
  if (earlier !== undefined && (latest === null || date <= latest)) return { state: 'allowed', plan: earlier.plan }
  if (latest === null) {
    return later === undefined
      ? { state: 'no_subscription' }
      : { state: 'before_subscription', earliest: earliestFileDay(later) }
  }
  return later === undefined
    ? { state: 'after_subscription', latest }
    : { state: 'outside_subscription', latest, earliest: earliestFileDay(later) }
}

const earliestFileDay = ({ first }: Period): Day => addDays(first, -1)

const latestFileDay = ({ last }: Period): Day | null => (last === null ? null : addDays(last, -1))
