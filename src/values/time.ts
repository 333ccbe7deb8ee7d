/** The value types of time: instants in whole Unix seconds and calendar days, both in UTC, and their texts. */

/** Whole Unix seconds, UTC, from 1970-01-01T00:00:00 to 9999-12-31T23:59:59. */
export type Instant = number

/** A valid day of the proleptic Gregorian calendar: `YYYY-MM-DD`. */
export type Day = string & { readonly __brand: 'Day' }

export const SECONDS_PER_DAY = 86_400
const MAX_INSTANT_EXCLUSIVE = 253_402_300_800 // 10000-01-01T00:00:00
const FIRST_DAY = -719_528 // 0000-01-01
const LAST_DAY = MAX_INSTANT_EXCLUSIVE / SECONDS_PER_DAY - 1
const MONTH_DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
const TWO_DIGITS = Array.from({ length: 100 }, (_, number) => String(number).padStart(2, '0'))
const MINUTE_TEXTS = Array.from(
  { length: 1440 },
  (_, minute) => `T${TWO_DIGITS[Math.floor(minute / 60)]}:${TWO_DIGITS[minute % 60]}:`,
)
const MAX_CACHED_DAYS = 40_000 // more than a hundred years
const dayTextCache = new Map<number, Day>()

/**
 * Parses an RFC 3339 date-time with any offset. It drops the fraction and counts a leap second as the second after it.
 * Returns null for any other text, for a day or time that does not exist, and outside the years 1970 to 9999 in UTC.
 */
export function parseInstant(text: string): Instant | null {
  const local = parseLocalSeconds(text)
  const zone = skipFraction(text)
  const offset = zone < 0 ? Number.NaN : parseUtcOffset(text, zone)
  const instant = local - offset
  const leap = text.charCodeAt(17) === 54 // the 6 of :60, which is valid only before a UTC midnight
  return instant >= 0 && instant < MAX_INSTANT_EXCLUSIVE && (!leap || instant % SECONDS_PER_DAY === 0) ? instant : null
}

/** Parses exactly `YYYY-MM-DDThh:mm:ss` in UTC, the format of formatInstant. Returns null for any other text. */
export function parseFormattedInstant(text: string): Instant | null {
  if (text.length !== 19 || text.charCodeAt(10) !== 84 || text.charCodeAt(17) === 54) return null
  const instant = parseLocalSeconds(text)
  return instant >= 0 ? instant : null
}

/** `YYYY-MM-DDThh:mm:ss`, UTC, without a zone. */
export function formatInstant(instant: Instant): string {
  const day = Math.floor(instant / SECONDS_PER_DAY)
  const second = instant - day * SECONDS_PER_DAY
  const minute = Math.floor(second / 60)
  return formatDay(day) + MINUTE_TEXTS[minute]! + TWO_DIGITS[second - minute * 60]!
}

/** `YYYY-MM-DDThh:mm:ssZ`; null for none. */
export function utcText(instant: Instant): string
export function utcText(instant: Instant | null): string | null
export function utcText(instant: Instant | null): string | null {
  return instant === null ? null : `${formatInstant(instant)}Z`
}

/** Parses exactly `YYYY-MM-DD`. Returns null for any other text and for a day that does not exist. */
export function parseDay(text: string): Day | null {
  return text.length !== 10 || Number.isNaN(parseDayNumber(text)) ? null : (text as Day)
}

export function dayOf(instant: Instant): Day {
  return formatDay(Math.floor(instant / SECONDS_PER_DAY))
}

/** Days since 1970-01-01, negative before it. */
export function numberOfDay(day: Day): number {
  return parseDayNumber(day)
}

/** The day of such a number. */
export function dayOfNumber(number: number): Day {
  return formatDay(number)
}

/** Adds days (subtracts if negative). The result stays within the years 0000 to 9999. */
export function addDays(day: Day, days: number): Day {
  return formatDay(Math.min(Math.max(parseDayNumber(day) + days, FIRST_DAY), LAST_DAY))
}

/** The first second of a day. */
export function startOfDay(day: Day): Instant {
  return parseDayNumber(day) * SECONDS_PER_DAY
}

/** The seconds until the next UTC midnight, 1 to 86,400. */
export function secondsToMidnight(instant: Instant): number {
  return SECONDS_PER_DAY - (instant % SECONDS_PER_DAY)
}

/** The seconds of the first 19 characters, `YYYY-MM-DDThh:mm:ss` in UTC with ss up to 60; NaN if they are invalid. */
function parseLocalSeconds(text: string): number {
  const hour = parseDigits(text, 11, 2)
  const minute = parseDigits(text, 14, 2)
  const second = parseDigits(text, 17, 2)
  const marks = (text.charCodeAt(10) | 32) === 116 && text.charCodeAt(13) === 58 && text.charCodeAt(16) === 58
  if (!marks || !(hour < 24 && minute < 60 && second < 61)) return Number.NaN
  return parseDayNumber(text) * SECONDS_PER_DAY + hour * 3600 + minute * 60 + second
}

/** The index of the zone after the seconds and their fraction; -1 for a point without digits. */
function skipFraction(text: string): number {
  if (text.charCodeAt(19) !== 46) return 19
  let at = 20
  while (text.charCodeAt(at) >= 48 && text.charCodeAt(at) <= 57) at++
  return at > 20 ? at : -1
}

/** The offset from UTC, in seconds, of the zone at the end of a text (`Z` or `±hh:mm`); NaN if it is invalid. */
function parseUtcOffset(text: string, at: number): number {
  const length = text.length - at
  const sign = text.charCodeAt(at)
  if (length === 1 && (sign | 32) === 122) return 0
  const hour = parseDigits(text, at + 1, 2)
  const minute = parseDigits(text, at + 4, 2)
  const fits = length === 6 && (sign === 43 || sign === 45) && text.charCodeAt(at + 3) === 58
  if (!fits || !(hour < 24 && minute < 60)) return Number.NaN
  return (sign === 45 ? -1 : 1) * (hour * 3600 + minute * 60)
}

/** The days from 1970-01-01 to the day in the first 10 characters; NaN if they are not a valid day. */
function parseDayNumber(text: string): number {
  const year = parseDigits(text, 0, 4)
  const month = parseDigits(text, 5, 2)
  const day = parseDigits(text, 8, 2)
  const marks = text.charCodeAt(4) === 45 && text.charCodeAt(7) === 45
  if (!marks || !(year >= 0 && month >= 1 && month <= 12 && day >= 1 && day <= daysInMonth(year, month)))
    return Number.NaN
  const shifted = month > 2 ? year : year - 1 // a year that starts in March ends with its leap day
  const dayOfYear = Math.floor((153 * ((month + 9) % 12) + 2) / 5) + day - 1
  const leaps = Math.floor(shifted / 4) - Math.floor(shifted / 100) + Math.floor(shifted / 400)
  return 365 * shifted + leaps + dayOfYear - 719_468
}

function daysInMonth(year: number, month: number): number {
  const leap = month === 2 && year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)
  return MONTH_DAYS[month - 1]! + (leap ? 1 : 0)
}

/** The number of the `count` digits that start at `from`; NaN if a character is not a digit. */
function parseDigits(text: string, from: number, count: number): number {
  let value = 0
  for (let at = from; at < from + count; at++) {
    const digit = text.charCodeAt(at) - 48
    if (!(digit >= 0 && digit <= 9)) return Number.NaN
    value = value * 10 + digit
  }
  return value
}

/** The text of a day, from its days since 1970-01-01. */
function formatDay(days: number): Day {
  const cached = dayTextCache.get(days)
  if (cached !== undefined) return cached
  if (dayTextCache.size >= MAX_CACHED_DAYS) dayTextCache.clear()
  const text = new Date(days * SECONDS_PER_DAY * 1000).toISOString().slice(0, 10) as Day
  dayTextCache.set(days, text)
  return text
}
