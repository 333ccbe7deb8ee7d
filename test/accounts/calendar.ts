/** Arbitrary subscriptions within a few weeks, and the plain calendar to compare the rules with. */

import fc from 'fast-check'
import { type Account, PLANS } from '../../src/accounts/account.ts'
import type { DailyAccess } from '../../src/accounts/daily-access.ts'
import type { Period } from '../../src/accounts/period.ts'
import { addDays, type Day } from '../../src/values/time.ts'

const FIRST = '2026-02-10' as Day
const LENGTH = 40

/** Every day of the calendar, and some around it. */
export const ALL_DAYS: readonly Day[] = Array.from({ length: LENGTH + 10 }, (_, index) => addDays(FIRST, index - 5))

/** Not the last day, because the calendar lacks the day after it. */
export const days = fc.constantFrom(...ALL_DAYS.slice(0, -1))

const paid = fc.constantFrom<Period['plan']>('basic', 'premium')

/**
 * Up to four periods from ascending bounds, so that they never overlap. Some have one day, and the last one may be
 * open.
 */
export const periods: fc.Arbitrary<Period[]> = fc
  .record({
    bounds: fc.uniqueArray(fc.nat(LENGTH - 1), { maxLength: 8 }),
    plans: fc.array(paid, { minLength: 4, maxLength: 4 }),
    single: fc.array(fc.boolean(), { minLength: 4, maxLength: 4 }),
    open: fc.boolean(),
  })
  .map(({ bounds, plans, single, open }) => {
    const ascending = bounds.toSorted((a, b) => a - b).map((index) => addDays(FIRST, index))
    const pairs = ascending.flatMap((first, index) => (index % 2 === 0 ? [[first, ascending[index + 1]]] : []))
    return pairs.flatMap(([first, last], index) => {
      if (last === undefined && !open) return []
      return [{ plan: plans[index]!, first: first!, last: single[index] && last ? first! : (last ?? null) }]
    })
  })

export const subscriptions = fc.record({ plan: fc.constantFrom(...PLANS), periods })

/** The period of each day, computed day by day. */
export function calendar(list: readonly Period[]): Map<Day, Period> {
  const held = new Map<Day, Period>()
  for (const period of list) {
    for (const day of ALL_DAYS)
      if (day >= period.first && (period.last === null || day <= period.last)) held.set(day, period)
  }
  return held
}

/** The state of a date on /daily, found among the delivered days before and after it. */
export function marked({ plan, periods }: Pick<Account, 'plan' | 'periods'>, date: Day, today: Day): DailyAccess {
  if (plan === 'local') return { state: 'allowed', plan: 'premium' }
  if (plan === 'free' && periods.every(({ first }) => first > today)) return { state: 'plan_required' }
  const held = calendar(periods)
  const delivered = ALL_DAYS.filter((day) => held.has(addDays(day, 1)))
  const period = held.get(addDays(date, 1))
  if (period !== undefined) return { state: 'allowed', plan: period.plan }
  if (delivered.includes(date)) throw new Error('delivered by no period')
  const latest = delivered.findLast((day) => day < date)
  const earliest = delivered.find((day) => day > date)
  if (latest !== undefined && earliest !== undefined) return { state: 'outside_subscription', latest, earliest }
  if (latest !== undefined) return { state: 'after_subscription', latest }
  return earliest !== undefined ? { state: 'before_subscription', earliest } : { state: 'no_subscription' }
}
