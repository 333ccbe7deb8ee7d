/** States of one record type: how one follows another, and how a superseded one is stored. */

import type { IpAddress } from '../values/ip-address.ts'
import type { StateType } from '../values/state-type.ts'
import type { Instant } from '../values/time.ts'
import type { SupersededState } from './change.ts'
import type { DnsState } from './crawl-state.ts'

/** Counting stops here, so that totals can say "more than 1,000". */
export const MAX_COUNTED_STATES = 1001

/** Returns the number of states after another one follows `state`. */
export function countAfterState(state: Pick<DnsState, 'count'> | undefined): number {
  return Math.min((state?.count ?? 0) + 1, MAX_COUNTED_STATES)
}

/** Returns the state as it is stored after another one follows. `confirmed` is the time of its last observation. */
export function supersededState(type: StateType, state: DnsState, confirmed: Instant): SupersededState {
  const row = { type, first_seen: state.first_seen, last_confirmed: confirmed }
  if (state.base === null) return { ...row, records: state.records, serial: null, base: null }
  return { ...row, records: null, serial: serialOf(state.records), base: state.base }
}

/** The index of the serial in the stored values of an SOA. */
const SOA_SERIAL_INDEX = 2

/** Returns true for two sets of one SOA each that differ only in the serial. */
export function differsInSerialOnly(one: string, other: string): boolean {
  if (serialOf(one) === null || serialOf(other) === null) return false
  return withSerial(one, 0) === withSerial(other, 0)
}

/** Returns the same set with another serial. */
export function withSerial(records: string, serial: number): string {
  const [soa] = JSON.parse(records) as [unknown[]]
  return JSON.stringify([soa.with(SOA_SERIAL_INDEX, serial)])
}

/** Returns the serial of a set of one SOA, or null for any other set. */
function serialOf(records: string): number | null {
  const list = JSON.parse(records) as unknown[][]
  return list.length === 1 ? (list[0]![SOA_SERIAL_INDEX] as number) : null
}

/** Returns the addresses of an A or AAAA set, or none for a type that was never observed. */
export function addressesOfRecords(records: string | undefined): IpAddress[] {
  return records === undefined || records === '[]' ? [] : JSON.parse(records)
}
