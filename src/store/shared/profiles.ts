/** Builds the profiles of domains and addresses from the columns that an engine has read. */

import { unpackHex } from '../../values/ip-address.ts'
import { RECORD_TYPES } from '../../values/records/dns-record.ts'
import { decodeRecords } from '../../values/records/stored-records.ts'
import type { AddressProfile, DomainProfile } from '../port/store.ts'
import { unpackStates } from './columns.ts'
import { LOOKUP_ROW_COLUMNS, type LookupRow, redirectTargetOf, unpackLookup } from './lookup.ts'

/**
 * The columns of the statement of a domain profile. `addresses`: JSON array in hexadecimal. `onAddresses`: JSON array of
 * the profile's addresses, each as hexadecimal, since, and number of names.
 */
export type ProfileRow = [
  ...LookupRow,
  states: string | null,
  addresses: string | null,
  onAddresses: string | null,
  ...further: unknown[],
]

/** Null for a forgotten name. */
export function unpackDomainProfile(row: ProfileRow): DomainProfile | null {
  const lookup = unpackLookup(row)
  if (lookup === null) return null
  const [states, packedAddresses, onAddresses] = row.slice(LOOKUP_ROW_COLUMNS) as (string | null)[]
  const addresses: string[] = JSON.parse(packedAddresses ?? '[]')
  const found: [hex: string, since: string, names: number][] = JSON.parse(onAddresses ?? '[]')
  found.sort(([a], [b]) => addresses.indexOf(a) - addresses.indexOf(b))
  return {
    lookup,
    redirects_to: redirectTargetOf(row),
    records: currentRecordsOf(states ?? '{}'),
    addresses: found.map(([hex, since, names]) => ({ address: unpackHex(hex), since, names })),
    addressCount: addresses.length,
  }
}

function currentRecordsOf(storedStates: string): DomainProfile['records'] {
  const states = unpackStates(storedStates)
  const records: DomainProfile['records'] = {}
  for (const type of RECORD_TYPES) {
    const state = states[type]
    if (state === undefined) continue
    records[type] = { first_seen: state.first_seen, records: JSON.stringify(decodeRecords(type, state.records)) }
  }
  return records
}

/** The columns of the statement of an address profile; null if there is no name on the address. */
export type AddressProfileRow = { count: number | null; domains: string | null }

export function unpackAddressProfile({ count, domains }: AddressProfileRow): AddressProfile {
  return { count: count ?? 0, domains: JSON.parse(domains ?? '[]') }
}
