/** What is known of a name, as one text: of the model, and of a store. */

import { CLOCK_INDEX } from '../../src/apply/stored-numbers.ts'
import type { FactsReader, Lookup, PastState } from '../../src/store/port/store.ts'
import type { DomainName } from '../../src/values/domain-name.ts'
import { RECORD_TYPES, type RecordType } from '../../src/values/records/dns-record.ts'
import type { Instant } from '../../src/values/time.ts'
import type { Model } from '../store/model.ts'

/** More states than a name gets. */
const MAX_STATES = 1_000

export function modelView(facts: Model, name: DomainName): string {
  const states = (type: RecordType): readonly PastState[] => facts.history(name, type)
  return viewOf(name, facts.lookup(name), states, (type) => facts.clock(name, type))
}

export async function storeView(facts: FactsReader, name: DomainName): Promise<string> {
  const { byType } = await facts.history(name, RECORD_TYPES, null, MAX_STATES)
  const [clocks] = await facts.partClocks([name])
  const clockOf = (type: RecordType): Instant => clocks![CLOCK_INDEX[type]]!
  return viewOf(name, await facts.lookup(name), (type) => byType[type].states, clockOf)
}

/** What watches of a name report if it changes. That a name cannot be resolved says nothing about it. */
export function watchedView(facts: Model, name: DomainName): string {
  const lookup = facts.lookup(name)
  if (lookup === null) return 'unknown'
  const records = RECORD_TYPES.map((type) => facts.history(name, type)[0]?.records ?? '[]')
  return JSON.stringify([lookup.ip === 'nxdomain', records, facts.webHistory(name)[0]?.verdict])
}

/** `clockOf`: when a type was last observed. No answer says that of the newest state, but those after it depend on it. */
function viewOf(
  name: DomainName,
  lookup: Lookup | null,
  states: (type: RecordType) => readonly PastState[],
  clockOf: (type: RecordType) => Instant,
): string {
  if (lookup === null) return `${name}: unknown`
  const fields = Object.entries(lookup).sort(([a], [b]) => (a < b ? -1 : 1))
  const histories = RECORD_TYPES.flatMap((type) =>
    states(type).map(({ first_seen, last_confirmed, records }) => `${type} ${first_seen} ${last_confirmed} ${records}`),
  )
  const clocks = RECORD_TYPES.map(clockOf)
  return `${name}: ${fields.map((field) => field.join('=')).join(' ')} ${clocks} ${histories.join(' ')}`
}
