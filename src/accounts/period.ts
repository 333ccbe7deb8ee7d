/** Subscription periods: the days for which an account has paid. */

import { type Day, parseDay } from '../values/time.ts'

/** A period from `first` to `last`, both included. If `last` is null, the period has no end. */
export type Period = { plan: 'basic' | 'premium'; first: Day; last: Day | null }

const EARLIEST_FIRST_DAY = '1970-01-02' // such a period includes the file of the day before, which is the first instant
const OPEN_END_DAY = '9999-12-31'

/** Parses `PLAN:FIRST..LAST`, or `PLAN:FIRST..` without an end. Returns null for any other text, or if LAST < FIRST. */
export function parsePeriod(text: string): Period | null {
  const [, plan, from = '', to = ''] = /^(basic|premium):([^.]*)\.\.([^.]*)$/.exec(text.trim()) ?? []
  const first = parseDay(from)
  const last = to === '' ? null : parseDay(to)
  if (plan === undefined || first === null || first < EARLIEST_FIRST_DAY) return null
  if (to !== '' && (last === null || last < first)) return null
  return { plan: plan as Period['plan'], first, last }
}

export function formatPeriod({ plan, first, last }: Period): string {
  return `${plan}:${first}..${last ?? ''}`
}

/** Whether two periods have a day in common. */
export function periodsOverlap(a: Period, b: Period): boolean {
  return a.first <= (b.last ?? OPEN_END_DAY) && b.first <= (a.last ?? OPEN_END_DAY)
}
