/** Dates in headers (RFC 9110, chapter 5.6.7). */

import type { Instant } from '../../values/time.ts'

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']
const HTTP_TIME_PATTERN = '(?<time>\\d\\d:\\d\\d:\\d\\d)'
const HTTP_DATE_PATTERNS = [
  `[A-Z][a-z]{2}, (?<day>\\d\\d) (?<month>[A-Z][a-z]{2}) (?<year>\\d{4}) ${HTTP_TIME_PATTERN} GMT`,
  `[A-Z][a-z]{5,8}, (?<day>\\d\\d)-(?<month>[A-Z][a-z]{2})-(?<year>\\d\\d) ${HTTP_TIME_PATTERN} GMT`,
  `[A-Z][a-z]{2} (?<month>[A-Z][a-z]{2}) (?<day>[ \\d]\\d) ${HTTP_TIME_PATTERN} (?<year>\\d{4})`,
].map((shape) => new RegExp(`^${shape}$`))

export function formatHttpDate(instant: Instant): string {
  return new Date(instant * 1000).toUTCString()
}

/** Any of the three forms that a recipient has to know; null for another text. Two digits of a year are of 1970 to 2069. */
export function parseHttpDate(text: string): Instant | null {
  const found = HTTP_DATE_PATTERNS.map((shape) => shape.exec(text)?.groups).find((groups) => groups !== undefined)
  if (found === undefined) return null
  const month = MONTHS.indexOf(found.month!) + 1
  const year = found.year!.length === 4 ? found.year! : `${Number(found.year) < 70 ? 20 : 19}${found.year}`
  const day = found.day!.trim().padStart(2, '0')
  const instant = Date.parse(`${year}-${String(month).padStart(2, '0')}-${day}T${found.time}Z`) / 1000
  return Number.isNaN(instant) ? null : instant
}
