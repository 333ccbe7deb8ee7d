/** Of which day a zone or list is: what is said, what its file's name says, or what the zone's serial says. Pure. */

import { InputError } from '../import/stream/input-error.ts'
import { addDays, type Day, dayOf, type Instant, parseDay } from '../values/time.ts'

const DAY_IN_NAME = /(?<!\d)(\d{4})-?(\d{2})-?(\d{2})(?!\d)/g
/**
 * Serials from here on are days with a counter (RFC 1912, chapter 2.2), those before seconds since 1970, from 2001 on.
 */
const FIRST_DATED_SERIAL = 1_990_010_100
const FIRST_UNIX_SERIAL = 1_000_000_000

/** The one day that is in a file's name; null where there is none, or more than one. */
export function dayInName(path: string): Day | null {
  const name = path.split('/').at(-1)!
  const days = [...name.matchAll(DAY_IN_NAME)].flatMap(
    ([, year, month, day]) => parseDay(`${year}-${month}-${day}`) ?? [],
  )
  return new Set(days).size === 1 ? days[0]! : null
}

/** The day in the serial of an SOA, `YYYYMMDDnn` or Unix seconds; null for one that counts otherwise. */
export function dayInSerial(serial: number): Day | null {
  if (serial < FIRST_UNIX_SERIAL) return null
  if (serial < FIRST_DATED_SERIAL) return dayOf(serial)
  const digits = String(serial)
  return parseDay(`${digits.slice(0, 4)}-${digits.slice(4, 6)}-${digits.slice(6, 8)}`)
}

/**
 * The first day that is told. Throws InputFault where none is, or it has not come yet (it may have elsewhere on earth).
 */
export function dayOfFile(candidates: readonly (Day | null)[], now: Instant): Day {
  const day = candidates.find((each) => each !== null)
  if (day === undefined) throw new InputError('it does not say of which day it is: --date YYYY-MM-DD does')
  if (day > addDays(dayOf(now), 1)) throw new InputError(`${day} has not come yet: --date says another day`)
  return day
}
