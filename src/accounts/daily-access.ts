/** Which days' files of /daily an account may have. */

import { addDays, type Day } from '../values/time.ts'
import type { Account } from './account.ts'
import type { Period } from './period.ts'

/** The state of a date; all but `allowed` are the keys of the errors that they answer with. Days are days of files. */
export type DailyAccess =
  | { state: 'allowed'; plan: Period['plan'] }
  | { state: 'plan_required' }
  | { state: 'no_subscription' }
  | { state: 'before_subscription'; earliest: Day }
  | { state: 'after_subscription'; latest: Day }
  /** In a gap: available until `latest`, and again from `earliest` on. */
  | { state: 'outside_subscription'; latest: Day; earliest: Day }

/**
 * The state of the file dated `date`, as seen on the day `today`. A file is written the night after its date, so a period
 * delivers those dated from the day before its first to the day before its last; that it exists is not said. The owner of the
 * machine (plan local) may have them all.
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
