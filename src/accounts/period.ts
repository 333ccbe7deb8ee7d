/** Subscription periods: the days an account paid for. */

import { type Day, parseDay } from '../values/time.ts'

/** First and last day are inside; `last` null is open. */
export type Period = { plan: 'basic' | 'premium'; first: Day; last: Day | null }

const EARLIEST_FIRST_DAY = '1970-01-02' // instants begin the day before, which is the first that a period of this day delivers
const OPEN_END_DAY = '9999-12-31'

/** `PLAN:FIRST..LAST` or, open, `PLAN:FIRST..`; null for any other text, also where the last day lies before the first. */
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

/** Whether some day is in both. */
export function periodsOverlap(a: Period, b: Period): boolean {
  return a.first <= (b.last ?? OPEN_END_DAY) && b.first <= (a.last ?? OPEN_END_DAY)
}
