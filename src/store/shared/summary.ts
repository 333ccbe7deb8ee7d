/** The summary of a name, from its crawl state and its facts. */

import { NO_FACTS } from '../../apply/crawl-state.ts'
import { STATE_TYPES } from '../../apply/stored-numbers.ts'
import type { DomainName } from '../../values/domain-name.ts'
import type { StateType } from '../../values/state-type.ts'
import type { Instant } from '../../values/time.ts'
import type { NameSummary } from '../port/store.ts'
import { type FactsRow, TOMBSTONE_ID, unpackFacts } from './columns.ts'
import { type ClockRow, lastObservedOf } from './lookup.ts'

/** `id`: of the crawl state. Without facts, their columns are null. */
export type SummaryRow = ClockRow & { id: number | null } & (FactsRow | { states: null })

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
  return { ...lastObservedOf(row), first_seen: firsts.length === 0 ? null : Math.min(...firsts), facts }
}
