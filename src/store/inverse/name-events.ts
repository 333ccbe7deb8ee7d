/** Everything that the inverse index has of one name, from its current facts and its history. */

import type { InverseChanges } from '../../apply/change.ts'
import type { CurrentFacts } from '../../apply/crawl-state.ts'
import { recordTypeOfNumber } from '../../apply/stored-numbers.ts'
import { changesOfTimeline, eventsOfChange, type SetChange } from '../../inverse/entries/record-events.ts'
import { nameSetKey } from '../../inverse/entries/value-key.ts'
import type { DomainName } from '../../values/domain-name.ts'
import { RECORD_TYPES } from '../../values/records/dns-record.ts'
import type { Instant } from '../../values/time.ts'

/** A superseded state, oldest first. `records`: those of its base if it is stored as a serial. */
export type HistoryRow = { type: number; first_seen: Instant; last_confirmed: Instant; records: string }
export type InterruptionRow = { type: number; last_seen: Instant; seen_again: Instant }
/** The stored history of a name. */
export type StoredHistory = {
  name: DomainName
  states: CurrentFacts['states']
  superseded: readonly HistoryRow[]
  interruptions: readonly InterruptionRow[]
}

/** The changes that made the history of a name. */
export function changesOfName({ states, superseded, interruptions }: StoredHistory): InverseChanges {
  const sets: SetChange[] = []
  for (const type of RECORD_TYPES) {
    const newest = states[type]
    if (newest === undefined) continue
    const isOfType = ({ type: number }: { type: number }): boolean => recordTypeOfNumber(number) === type
    const timeline = [
      ...superseded.filter(isOfType).map(({ first_seen, last_confirmed, records }) => {
        return { first: first_seen, last: last_confirmed, records }
      }),
      { first: newest.first_seen, last: null, records: newest.records },
    ]
    sets.push(...changesOfTimeline(type, timeline, interruptions.filter(isOfType)))
  }
  return { sets, isNewOwner: Object.keys(states).length > 0 }
}

/** The keys of all entries of a name with their events, by key; null for the key of a set of names. */
export function entriesOfName(history: StoredHistory): Map<string, number[] | null> {
  const { name } = history
  const { sets, isNewOwner } = changesOfName(history)
  const entries = new Map<string, number[] | null>()
  for (const change of sets) {
    const { keys, events } = eventsOfChange(change)
    for (const [index, key] of keys.entries()) {
      const known = entries.get(key + name)
      if (known) known.push(events[index]!)
      else entries.set(key + name, [events[index]!])
    }
  }
  if (isNewOwner) {
    entries.set(nameSetKey('ownerBelow', name), null)
    entries.set(nameSetKey('ownerStarting', name), null)
  }
  for (const [key, list] of entries)
    if (list)
      entries.set(
        key,
        [...new Set(list)].sort((a, b) => a - b),
      )
  return entries
}
