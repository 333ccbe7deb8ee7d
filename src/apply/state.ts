/** States of one record type: how one follows another, and how a superseded one is kept. */

import type { Address } from '../words/address.ts'
import type { RecordType, SOARecord } from '../words/record.ts'
import type { Instant } from '../words/time.ts'
import type { Superseded } from './change.ts'
import type { State } from './known.ts'

/** Counting stops here, so that totals can say "more than 1,000". */
export const COUNTED_STATES = 1001

/** The number of states once another follows `known`. */
export function afterState(known: State | undefined): number {
  return Math.min((known?.count ?? 0) + 1, COUNTED_STATES)
}

/** The state as it is kept once another follows. `confirmed` is when it was last observed. */
export function superseded(type: RecordType, state: State, confirmed: Instant): Superseded {
  const row = { type, first_seen: state.first_seen, last_confirmed: confirmed }
  if (state.base === null) return { ...row, records: state.records, serial: null, base: null }
  return { ...row, records: null, serial: soaOf(state.records)!.serial, base: state.base }
}

/** True for two sets of one SOA each that are equal but for the serial. */
export function differsInSerialAlone(one: string, other: string): boolean {
  const [left, right] = [soaOf(one), soaOf(other)]
  return (
    left !== null &&
    right !== null &&
    JSON.stringify({ ...left, serial: 0 }) === JSON.stringify({ ...right, serial: 0 })
  )
}

function soaOf(records: string): SOARecord | null {
  const list = JSON.parse(records) as SOARecord[]
  return list.length === 1 ? list[0]! : null
}

/** The addresses of an A or AAAA set; none for a type that was never seen. */
export function addressesOf(records: string | undefined): Address[] {
  if (records === undefined || records === '[]') return []
  const list = JSON.parse(records) as { ipv4_address?: Address; ipv6_address?: Address }[]
  return list.map(({ ipv4_address, ipv6_address }) => (ipv4_address ?? ipv6_address)!)
}
