/** Counts of names: added up over pieces, corrected by what was visited since, and what they say of the facts' age. Pure. */

import type { Visit } from '../apply/known.ts'
import { AGE_DAYS, type Count } from '../store/schedule.ts'
import type { Instant } from '../words/time.ts'
import { type Quantiles, quantiles } from './quantiles.ts'

const DAY = 86_400

export const NOTHING: Count = {
  names: 0,
  due: 0,
  overdue: 0,
  fresh: 0,
  next: null,
  ages: Array.from({ length: AGE_DAYS.length + 1 }, () => 0),
}

export function plus(a: Count, b: Count): Count {
  return {
    names: a.names + b.names,
    due: a.due + b.due,
    overdue: a.overdue + b.overdue,
    fresh: a.fresh + b.fresh,
    next: a.next === null || b.next === null ? (a.next ?? b.next) : Math.min(a.next, b.next),
    ages: a.ages.map((names, place) => names + b.ages[place]!),
  }
}

/** The count of slots that were read at `read`, after a name of theirs that was due then was looked at, and is due at `due`. */
export function afterVisit(count: Count, visit: Visit, read: Instant, due: Instant): Count {
  const last = lastSeen(visit)
  const ages = [...count.ages]
  if (last > 0) ages[placeOf(read - last)]!--
  ages[0]!++
  const isOverdue = visit.due <= read - DAY && (visit.due > 0 || last > 0)
  return {
    names: count.names,
    due: count.due - 1,
    overdue: count.overdue - Number(isOverdue),
    fresh: count.fresh - Number(last === 0),
    next: Math.min(count.next ?? due, due),
    ages,
  }
}

/** When a name was last looked at, 0 for never. */
export function lastSeen({ clocks }: Visit): Instant {
  return Math.max(...clocks)
}

/** The ages, in seconds, that half, 95 and 99 of a hundred facts do not exceed; null where nothing was ever visited. */
export function ageOf({ ages }: Count): Quantiles | null {
  return quantiles(
    AGE_DAYS.map((days) => days * DAY),
    ages,
  )
}

function placeOf(seconds: number): number {
  const place = AGE_DAYS.findIndex((days) => seconds <= days * DAY)
  return place < 0 ? AGE_DAYS.length : place
}
