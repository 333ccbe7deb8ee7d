/** What a sweep counts of the rows of `crawl_state`, in the SQL that every engine speaks. */

import type { Instant } from '../../values/time.ts'
import { AGE_DAYS, type SlotCount } from '../port/schedule.ts'

const SECONDS_PER_DAY = 86_400

/** The count's columns; `at` is how the engine writes its parameter for the time. Ages come added up, which takes half the time. */
export function slotCountColumns(at: string): string {
  return [
    'count(*)',
    `count(*) filter (where due <= ${at})`,
    `count(*) filter (where due <= ${at} - ${SECONDS_PER_DAY} and (due > 0 or clock > 0))`,
    'count(*) filter (where clock = 0)',
    `min(due) filter (where due > ${at})`,
    ...AGE_DAYS.map((days) => `count(*) filter (where clock >= ${at} - ${days * SECONDS_PER_DAY})`),
  ].join(', ')
}

/** The values of those columns. */
export function unpackSlotCount(row: readonly (number | null)[]): SlotCount {
  const [names, due, overdue, fresh, next, ...younger] = row as [number, number, number, number, Instant | null]
  const upTo = [...(younger as number[]), names - fresh]
  return {
    names,
    due,
    overdue,
    neverProbed: fresh,
    next,
    ages: upTo.map((count, place) => count - (upTo[place - 1] ?? 0)),
  }
}
