/**
 * The events of the inverse index that follow from the states of a record type: when each of its values appeared, and
 * when it was seen for the last time. Spans are pairs of them. Pure.
 */

import type { RecordType } from '../../values/records/dns-record.ts'
import type { Instant } from '../../values/time.ts'
import { endEvent, startEvent } from './block.ts'
import { valueKeysOfRecord } from './value-key.ts'

/** Events by value key: `events[i]` is one of `keys[i]`. */
export type RecordEvents = { keys: string[]; events: number[] }

/** What a change without new records adds. */
export const NO_RECORD_EVENTS: RecordEvents & { isNewOwner: false } = { keys: [], events: [], isNewOwner: false }

/** Sets of records whose keys are kept: most names share them. */
const MAX_CACHED_SETS = 8192
const CACHED_TYPES = ['NS', 'MX', 'TXT'] as const satisfies readonly RecordType[]
const cachedSets: Partial<Record<RecordType, Map<string, readonly string[]>>> = Object.fromEntries(
  CACHED_TYPES.map((type) => [type, new Map()]),
)

/** The value keys of a stored set of records, each once. */
export function valueKeysOfSet(type: RecordType, text: string): readonly string[] {
  if (text === '[]') return []
  const cache = cachedSets[type]
  const known = cache?.get(text)
  if (known !== undefined) return known
  const keys = (JSON.parse(text) as unknown[]).flatMap((values) => valueKeysOfRecord(type, values))
  const once = keys.length > 1 ? [...new Set(keys)] : keys
  if (cache?.size === MAX_CACHED_SETS) cache.clear()
  cache?.set(text, once)
  return once
}

/**
 * Adds the events of one set of records after another. `before`: the stored text of the state before, undefined for
 * none; `last`: its last observation. `after` was observed at `at`. `isInterrupted`: what is in both sets was not
 * observed continuously.
 */
export function addRecordEvents(
  to: RecordEvents,
  type: RecordType,
  change: { before: string | undefined; last: Instant; after: string; at: Instant; isInterrupted: boolean },
): void {
  const { before, last, after, at, isInterrupted } = change
  const former = valueKeysOfSet(type, before ?? '[]')
  const present = before === after ? former : valueKeysOfSet(type, after)
  for (const key of former) if (isInterrupted || !present.includes(key)) add(to, key, endEvent(last))
  for (const key of present) if (isInterrupted || !former.includes(key)) add(to, key, startEvent(at))
}

function add({ keys, events }: RecordEvents, key: string, event: number): void {
  keys.push(key)
  events.push(event)
}

/** A state of a record type with the stored text of its records. `last`: its last observation; null for the newest. */
type StoredTimelineState = { first: Instant; last: Instant | null; records: string }

/**
 * The events of all states of a type, oldest first. `interruptions`: the times in which its records were not observed
 * continuously, in any order.
 */
export function addTimelineEvents(
  to: RecordEvents,
  type: RecordType,
  states: readonly StoredTimelineState[],
  interruptions: readonly { last_seen: Instant; seen_again: Instant }[],
): void {
  const cuts = [...interruptions].sort((a, b) => a.seen_again - b.seen_again)
  let cut = 0
  let before: StoredTimelineState | undefined
  for (const state of states) {
    const { first, last, records } = state
    while (cut < cuts.length && cuts[cut]!.seen_again < first) cut++
    const isInterrupted = cuts[cut]?.seen_again === first
    const former = isInterrupted ? cuts[cut++]!.last_seen : (before?.last ?? 0)
    addRecordEvents(to, type, { before: before?.records, last: former, after: records, at: first, isInterrupted })
    for (; cut < cuts.length && (last === null || cuts[cut]!.seen_again <= last); cut++) {
      const { last_seen, seen_again } = cuts[cut]!
      const same = { before: records, last: last_seen, after: records, at: seen_again, isInterrupted: true }
      addRecordEvents(to, type, same)
    }
    before = state
  }
}
