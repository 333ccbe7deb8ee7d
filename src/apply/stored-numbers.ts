/**
 * The number that each record type and each clock has in every store: the one table of what is stored by position.
 * A number is never changed and never given again. A new record type takes the next free number of both, wherever it
 * stands in RECORD_TYPES; `test/store/frozen.test.ts` holds the numbers and the bytes that follow from them.
 */

import { RECORD_TYPES, type RecordType } from '../values/dns-record.ts'
import { OBSERVED_PARTS, type ObservedPart } from './crawl-state.ts'

/** `state.type`, and the bit of a type in `Prepared.asked`. */
export const RECORD_TYPE_NUMBERS: Readonly<Record<RecordType, number>> = {
  A: 0,
  AAAA: 1,
  MX: 2,
  TXT: 3,
  NS: 4,
  SOA: 5,
  CNAME: 6,
}

/** The clock of a part in `visit.late`. */
export const PART_NUMBERS: Readonly<Record<ObservedPart, number>> = {
  status: 0,
  A: 1,
  AAAA: 2,
  MX: 3,
  TXT: 4,
  NS: 5,
  SOA: 6,
  CNAME: 7,
  web: 8,
}

/**
 * A clock below this number stands at the newest one if `visit.late` does not list it. A part that was added later has
 * never been observed if it is not listed: rows that were written before it came say nothing of it.
 */
export const FIRST_ADDED_PART_NUMBER = 9

/** The place of each part in `Clocks`, which is in memory only. */
export const CLOCK_INDEX = Object.fromEntries(OBSERVED_PARTS.map((part, place) => [part, place])) as Readonly<
  Record<ObservedPart, number>
>

/**
 * The record type that a stored number stands for; undefined for the number of a type that this release does not know.
 */
export function recordTypeOfNumber(number: number): RecordType | undefined {
  return RECORD_TYPES.find((type) => RECORD_TYPE_NUMBERS[type] === number)
}
