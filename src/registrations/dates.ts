/** Determines the day of a zone or list: from the option, the file's name, or the zone's serial. Pure. */

import { InputError } from '../import/stream/input-error.ts'
import { addDays, type Day, dayOf, type Instant, parseDay } from '../values/time.ts'

const DAY_IN_NAME = /(?<!\d)(\d{4})-?(\d{2})-?(\d{2})(?!\d)/g
/**
 * Serials from here on are days with a counter (RFC 1912, section 2.2). Lower ones are seconds since 1970, from 2001
 * on.
 */
const FIRST_DATED_SERIAL = 1_990_010_100
const FIRST_UNIX_SERIAL = 1_000_000_000

/** Returns the only day in a file's name, or null if there is none or more than one. */
export function dayInName(path: string): Day | null {
  const name = path.split('/').at(-1)!
  const days = [...name.matchAll(DAY_IN_NAME)].flatMap(
    ([, year, month, day]) => parseDay(`${year}-${month}-${day}`) ?? [],
  )
  return new Set(days).size === 1 ? days[0]! : null
}

/** Returns the day in the serial of an SOA (`YYYYMMDDnn` or Unix seconds), or null for another numbering. */
export function dayInSerial(serial: number): Day | null {
  if (serial < FIRST_UNIX_SERIAL) return null
  if (serial < FIRST_DATED_SERIAL) return dayOf(serial)
  const digits = String(serial)
  return parseDay(`${digits.slice(0, 4)}-${digits.slice(4, 6)}-${digits.slice(6, 8)}`)
}

/**
 * Returns the first known day. Throws InputError if there is none, or if it is in the future in every time zone.
 * `alternative`: what else to do if there is none.
 */
export function dayOfFile(candidates: readonly (Day | null)[], now: Instant, alternative = ''): Day {
  const day = candidates.find((each) => each !== null)
  if (day === undefined) throw new InputError(`its day is unknown: set it with --date YYYY-MM-DD${alternative}`)
  if (day > addDays(dayOf(now), 1)) throw new InputError(`${day} is in the future: set another day with --date`)
  return day
}
