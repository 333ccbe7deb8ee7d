/** Formats and parses dates in headers (RFC 9110, section 5.6.7). */

import type { Instant } from '../../../values/time.ts'

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

/** Parses the three formats of the RFC. Returns null for any other text. Two-digit years are from 1970 to 2069. */
export function parseHttpDate(text: string): Instant | null {
  const groups = HTTP_DATE_PATTERNS.map((shape) => shape.exec(text)?.groups).find((each) => each !== undefined)
  if (groups === undefined) return null
  const month = MONTHS.indexOf(groups.month!) + 1
  const year = groups.year!.length === 4 ? groups.year! : `${Number(groups.year) < 70 ? 20 : 19}${groups.year}`
  const day = groups.day!.trim().padStart(2, '0')
  const instant = Date.parse(`${year}-${String(month).padStart(2, '0')}-${day}T${groups.time}Z`) / 1000
  return Number.isNaN(instant) ? null : instant
}
