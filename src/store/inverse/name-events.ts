/** Everything that the inverse index has of one name, from its current facts and its history. */

import { STATE_TYPES, stateTypeOfNumber } from '../../apply/stored-numbers.ts'
import { changesOfTimeline, eventsOfChange, type SetChange } from '../../inverse/entries/record-events.ts'
import { hasDetails, presentedFingerprint } from '../../values/certificate/presented.ts'
import type { DomainName } from '../../values/domain-name.ts'
import type { StateType } from '../../values/state-type.ts'
import type { Instant } from '../../values/time.ts'
import { encodeVerdict } from '../../values/web-verdict.ts'
import { unpackStates, unpackVerdict, VERDICT_COLUMNS, type VerdictRow } from '../shared/columns.ts'

/** A superseded state, oldest first. `records`: those of its base if it is stored as a serial. */
export type HistoryRow = { type: number; first_seen: Instant; last_confirmed: Instant; records: string }
export type InterruptionRow = { type: number; last_seen: Instant; seen_again: Instant }
/** The columns of `facts` from which the newest states of a name are read. */
export const NEWEST_STATES_COLUMNS = ['name', 'states', ...VERDICT_COLUMNS] as const
export type NewestStatesRow = { name: DomainName; states: string } & VerdictRow

/** The newest state of each type that has one, with its stored text. */
type NewestTexts = Partial<Record<StateType, { first_seen: Instant; records: string }>>
/** The stored history of a name. */
export type StoredHistory = {
  name: DomainName
  states: NewestTexts
  superseded: readonly HistoryRow[]
  interruptions: readonly InterruptionRow[]
}

/** The newest states of a name. */
export function newestTextsOf(row: NewestStatesRow): NewestTexts {
  const states = unpackStates(row.states)
  const verdict = unpackVerdict(row.name, row)
  const texts: NewestTexts = {}
  for (const type of STATE_TYPES) {
    const state = states[type]
    const records = type === 'web' ? verdict && encodeVerdict(verdict) : states[type]?.records
    if (state && records != null) texts[type] = { first_seen: state.first_seen, records }
  }
  return texts
}

/** The changes that made the history of a name. */
export function changesOfName({ states, superseded, interruptions }: StoredHistory): SetChange[] {
  const sets: SetChange[] = []
  for (const type of STATE_TYPES) {
    const newest = states[type]
    if (newest === undefined) continue
    const isOfType = ({ type: number }: { type: number }): boolean => stateTypeOfNumber(number) === type
    const timeline = [
      ...superseded.filter(isOfType).map(({ first_seen, last_confirmed, records }) => {
        return { first: first_seen, last: last_confirmed, records }
      }),
      { first: newest.first_seen, last: null, records: newest.records },
    ]
    sets.push(...changesOfTimeline(type, timeline, interruptions.filter(isOfType)))
  }
  return sets
}

/** The fingerprint of the certificate of each state that refers to one. */
export function presentedBy(history: StoredHistory): string[] {
  return certificateTextsOf(history).flatMap((text) => (hasDetails(text) ? [] : (presentedFingerprint(text) ?? [])))
}

/** The stored text of each state of the certificate. */
export function certificateTextsOf({ states, superseded }: StoredHistory): string[] {
  const older = superseded.filter(({ type }) => stateTypeOfNumber(type) === 'certificate')
  return [...older, ...(states.certificate ? [states.certificate] : [])].map(({ records }) => records)
}

/** The keys of all entries of a name that have events, with their events, by key. */
export function entriesOfName(history: StoredHistory): Map<string, number[]> {
  const { name } = history
  const entries = new Map<string, number[]>()
  for (const change of changesOfName(history)) {
    const { keys, events } = eventsOfChange(change)
    for (const [index, key] of keys.entries()) {
      const known = entries.get(key + name)
      if (known) known.push(events[index]!)
      else entries.set(key + name, [events[index]!])
    }
  }
  for (const [key, list] of entries)
    if (list)
      entries.set(
        key,
        [...new Set(list)].sort((a, b) => a - b),
      )
  return entries
}
