/** Builds the profiles of domains and addresses, and the summaries of names, from the columns that an engine has read. */

import { NO_FACTS } from '../../apply/crawl-state.ts'
import { STATE_TYPES } from '../../apply/stored-numbers.ts'
import type { DomainName } from '../../values/domain-name.ts'
import { unpackHex } from '../../values/ip-address.ts'
import { RECORD_TYPES } from '../../values/records/dns-record.ts'
import { recordsJson } from '../../values/records/stored-records.ts'
import type { StateType } from '../../values/state-type.ts'
import { dayOfNumber, type Instant } from '../../values/time.ts'
import type { AddressProfile, DomainProfile, NameSummary } from '../port/store.ts'
import { type FactsRow, parseStates, TOMBSTONE_ID, unpackFacts } from './columns.ts'
import {
  type ClockRow,
  LOOKUP_ROW_COLUMNS,
  type LookupRow,
  lastObservedOf,
  redirectTargetOf,
  unpackLookup,
} from './lookup.ts'

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
  const states = parseStates(storedStates)
  const records: DomainProfile['records'] = {}
  for (const type of RECORD_TYPES) {
    const state = states[type]
    if (state === undefined) continue
    const [first_seen, , , values] = state
    records[type] = { first_seen, records: recordsJson(type, values) }
  }
  return records
}

/** The columns of the statement of an address profile; null if there is no name on the address. */
export type AddressProfileRow = { count: number | null; domains: string | null }

export function unpackAddressProfile({ count, domains }: AddressProfileRow): AddressProfile {
  return { count: count ?? 0, domains: JSON.parse(domains ?? '[]') }
}

/** `id`: of the crawl state. Without facts, their columns are null. */
export type SummaryRow = ClockRow & { id: number | null; registered: number | null } & (FactsRow | { states: null })

/** `firstSeenOf`: the beginning of the oldest state of a type that has more than one. Null for a forgotten name. */
export function unpackSummary(
  name: DomainName,
  row: SummaryRow | undefined,
  firstSeenOf: (type: StateType) => Instant | null,
): NameSummary | null {
  if (row === undefined || row.id === TOMBSTONE_ID) return null
  const facts = row.states === null ? NO_FACTS : unpackFacts(name, row)
  const firsts = STATE_TYPES.flatMap((type) => {
    const state = facts.states[type]
    if (state === undefined) return []
    return [state.count === 1 ? state.first_seen : (firstSeenOf(type) ?? state.first_seen)]
  })
  const first_seen = firsts.length === 0 ? null : Math.min(...firsts)
  const registered = row.registered === null ? null : dayOfNumber(row.registered)
  return { ...lastObservedOf(row), first_seen, registered, facts }
}
