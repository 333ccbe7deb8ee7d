/** What a sweep counts of the rows of `visit`, in the SQL that every engine speaks. */

import type { Instant } from '../words/time.ts'
import { AGE_DAYS, type Count } from './schedule.ts'

const DAY = 86_400

/** The count's columns; `at` is how the engine writes its parameter for the time. Never planned, a name is overdue where it was visited. */
export function countColumns(at: string): string {
  const ages = [...AGE_DAYS, null].map((most, place) => {
    const least = place === 0 ? null : AGE_DAYS[place - 1]!
    const bounds = [
      least === null ? [] : `clock < ${at} - ${least * DAY}`,
      most === null ? [] : `clock >= ${at} - ${most * DAY}`,
    ]
    return `count(*) filter (where ${['clock > 0', ...bounds.flat()].join(' and ')})`
  })
  return [
    'count(*)',
    `count(*) filter (where due <= ${at})`,
    `count(*) filter (where due <= ${at} - ${DAY} and (due > 0 or clock > 0))`,
    'count(*) filter (where clock = 0)',
    `min(due) filter (where due > ${at})`,
    ...ages,
  ].join(', ')
}

/** The values of those columns. */
export function countOf(row: readonly (number | null)[]): Count {
  const [names, due, overdue, fresh, next, ...ages] = row as [number, number, number, number, Instant | null]
  return { names, due, overdue, fresh, next, ages }
}
