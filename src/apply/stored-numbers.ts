/**
 * The stored number of each record type and each clock, the same in every store.
 * Never change or reuse a number. A new record type takes the next free number of both tables, at any position in
 * RECORD_TYPES. `test/store/migrations/frozen.test.ts` checks the numbers and the bytes that depend on them.
 */

import { RECORD_TYPES, type RecordType } from '../values/records/dns-record.ts'
import { FURTHER_STATE_TYPES, type StateType } from '../values/state-type.ts'
import { OBSERVED_PARTS, type ObservedPart } from './crawl-state.ts'

/** `dns_interruption.type`, `dns_state.type`, and the bit of a type in `PreparedObservation.queriedTypes`. */
export const RECORD_TYPE_NUMBERS: Readonly<Record<RecordType, number>> = {
  A: 0,
  AAAA: 1,
  MX: 2,
  TXT: 3,
  NS: 4,
  SOA: 5,
  CNAME: 6,
}

/** `dns_state.type`. The types besides record types begin at 100, because the number of a record type is also a bit. */
export const STATE_TYPE_NUMBERS: Readonly<Record<StateType, number>> = {
  ...RECORD_TYPE_NUMBERS,
  web: 100,
  certificate: 101,
}

/** The number of a part in `crawl_state.other_clocks`. */
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
  certificate: 9,
}

/**
 * A part with a lower number has the newest clock if `crawl_state.other_clocks` does not list it. A part with this
 * number or a higher one was never observed if it is not listed, because older rows could not list it.
 */
export const FIRST_ADDED_PART_NUMBER = 9

/** The index of each part in `Clocks`, which exists in memory only. */
export const CLOCK_INDEX = Object.fromEntries(OBSERVED_PARTS.map((part, index) => [part, index])) as Readonly<
  Record<ObservedPart, number>
>

/** Returns the record type of a stored number, or undefined if this release does not know the number. */
export function recordTypeOfNumber(number: number): RecordType | undefined {
  return RECORD_TYPES.find((type) => RECORD_TYPE_NUMBERS[type] === number)
}

/** All types that have states. */
export const STATE_TYPES: readonly StateType[] = [...RECORD_TYPES, ...FURTHER_STATE_TYPES]

/** Returns the type of a stored number, or undefined if this release does not know the number. */
export function stateTypeOfNumber(number: number): StateType | undefined {
  return STATE_TYPES.find((type) => STATE_TYPE_NUMBERS[type] === number)
}
