/** Subscriptions by chance within a few weeks, and the plain calendar that the rules are compared with. */

import fc from 'fast-check'
import { PLANS } from '../../src/accounts/account.ts'
import type { Period } from '../../src/accounts/period.ts'
import { addDays, type Day } from '../../src/words/time.ts'

const FIRST = '2026-02-10' as Day
const LENGTH = 40

/** Every day that the calendar has, and some around it. */
export const ALL_DAYS: readonly Day[] = Array.from({ length: LENGTH + 10 }, (_, index) => addDays(FIRST, index - 5))

/** Not the last day, whose next one the calendar lacks. */
export const days = fc.constantFrom(...ALL_DAYS.slice(0, -1))

const paid = fc.constantFrom<Period['plan']>('basic', 'premium')

/** Up to four periods from ascending bounds, so that they never overlap; the last one may be open. */
export const periods: fc.Arbitrary<Period[]> = fc
  .record({
    bounds: fc.uniqueArray(fc.nat(LENGTH - 1), { maxLength: 8 }),
    plans: fc.array(paid, { minLength: 4, maxLength: 4 }),
    open: fc.boolean(),
  })
  .map(({ bounds, plans, open }) => {
    const ascending = bounds.toSorted((a, b) => a - b).map((index) => addDays(FIRST, index))
    const pairs = ascending.flatMap((first, index) => (index % 2 === 0 ? [[first, ascending[index + 1]]] : []))
    return pairs.flatMap(([first, last], index) => {
      if (last === undefined && !open) return []
      return [{ plan: plans[index]!, first: first!, last: last ?? null }]
    })
  })

export const subscriptions = fc.record({ plan: fc.constantFrom(...PLANS), periods })

/** The period of each day that one holds, by counting days. */
export function calendar(list: readonly Period[]): Map<Day, Period> {
  const held = new Map<Day, Period>()
  for (const period of list) {
    for (const day of ALL_DAYS)
      if (day >= period.first && (period.last === null || day <= period.last)) held.set(day, period)
  }
  return held
}
