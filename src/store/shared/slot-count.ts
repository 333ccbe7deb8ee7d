/** The counts of a sweep over rows of `crawl_state`, in SQL for both engines. */

import { LAST_LIST_PLACE } from '../../apply/fresh-name.ts'
import { type Instant, SECONDS_PER_DAY } from '../../values/time.ts'
import { AGE_DAYS, type SlotCount } from '../port/schedule.ts'

/**
 * The columns of the count. `at`: the engine's parameter of the time. Ages are cumulative, which takes half the time.
 */
export function slotCountColumns(at: string): string {
  return [
    'count(*)',
    `count(*) filter (where due <= ${at})`,
    `count(*) filter (where due <= ${at} - ${SECONDS_PER_DAY} and (due > ${LAST_LIST_PLACE} or clock > 0))`,
    'count(*) filter (where clock = 0)',
    `min(due) filter (where due > ${at})`,
    ...AGE_DAYS.map((days) => `count(*) filter (where clock >= ${at} - ${days * SECONDS_PER_DAY})`),
  ].join(', ')
}

/** Reads the values of those columns. */
export function unpackSlotCount(row: readonly (number | null)[]): SlotCount {
  const [names, due, overdue, neverProbed, next, ...ages] = row as [number, number, number, number, Instant | null]
  const cumulative = [...(ages as number[]), names - neverProbed]
  return {
    names,
    due,
    overdue,
    neverProbed,
    next,
    ages: cumulative.map((count, index) => count - (cumulative[index - 1] ?? 0)),
  }
}
