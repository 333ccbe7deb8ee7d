/** Instants and days as text: how long ago, in UTC and in local time. */

import { countOf } from './numbers.ts'

const UNITS = [
  ['year', 31_557_600],
  ['month', 2_629_800],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
] as const

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

/** The instant of a text of the server; one without a zone is in UTC. */
export function parseInstant(text: string): Date {
  return new Date(/(Z|[+-]\d\d:\d\d)$/.test(text) ? text : `${text}Z`)
}

/** `3 hours ago`, `in 2 days`; less than a minute is `just now`. */
export function formatAge(instant: Date, now: number = Date.now()): string {
  const seconds = (instant.getTime() - now) / 1_000
  const [unit, length] = UNITS.find(([, each]) => Math.abs(seconds) >= each) ?? [null, 0]
  if (unit === null) return 'just now'
  const span = countOf(Math.trunc(Math.abs(seconds) / length), unit)
  return seconds < 0 ? `${span} ago` : `in ${span}`
}

/** `2026-11-23 01:02 UTC`. */
export function formatUtc(instant: Date): string {
  return `${instant.toISOString().slice(0, 16).replace('T', ' ')} UTC`
}

/** The day of an instant in UTC, `2026-11-23`. */
export function formatDay(instant: Date): string {
  return instant.toISOString().slice(0, 10)
}

/** The month and day of an instant in UTC, `Nov 23`. */
export function formatMonthDay(instant: Date): string {
  return `${MONTHS[instant.getUTCMonth()]} ${instant.getUTCDate()}`
}

/** The hour and minute in the zone of the browser, with the day if it is another one than today. */
export function formatLocal(instant: Date): string {
  const isToday = instant.toDateString() === new Date().toDateString()
  return instant.toLocaleString('en-GB', {
    hour: '2-digit',
    minute: '2-digit',
    timeZoneName: 'short',
    ...(!isToday && { day: 'numeric', month: 'short' }),
  })
}
