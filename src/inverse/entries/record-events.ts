/**
 * The events of the inverse index that follow from the states of a record type: when each of its values appeared, and
 * when it was seen for the last time. Spans are pairs of them. Pure.
 */

import { isFurtherType, type StateType } from '../../values/state-type.ts'
import type { Instant } from '../../values/time.ts'
import { endEvent, startEvent } from './block.ts'
import { valueKeysOfRecord, valueKeysOfValues } from './value-key.ts'

/**
 * One stored set of records after another. `before`: the stored text of the state before, undefined for none; `last`: its
 * last observation. `after` was observed at `at`. `isInterrupted`: what is in both sets was not observed continuously.
 */
export type SetChange = {
  type: StateType
  before: string | undefined
  last: Instant
  after: string
  at: Instant
  isInterrupted: boolean
}

/** Events by value key: `events[i]` is one of `keys[i]`. */
type RecordEvents = { keys: string[]; events: number[] }

/** Sets of TXT records whose keys are kept: most names share one, and a long text is hashed. */
const MAX_CACHED_SETS = 8192
const textSets = new Map<string, readonly string[]>()

/** The value keys of a stored set of records or other values, each once. */
export function valueKeysOfSet(type: StateType, text: string): readonly string[] {
  const known = type === 'TXT' ? textSets.get(text) : undefined
  if (known !== undefined) return known
  const keys = (JSON.parse(text) as unknown[]).flatMap((values) =>
    isFurtherType(type) ? valueKeysOfValues(type, values) : valueKeysOfRecord(type, values),
  )
  const once = keys.length > 1 ? [...new Set(keys)] : keys
  if (type !== 'TXT') return once
  if (textSets.size === MAX_CACHED_SETS) textSets.clear()
  textSets.set(text, once)
  return once
}

/** The events of a change. */
export function eventsOfChange({ type, before = '[]', last, after, at, isInterrupted }: SetChange): RecordEvents {
  const former = valueKeysOfSet(type, before)
  const present = before === after ? former : valueKeysOfSet(type, after)
  const ended = former.filter((key) => isInterrupted || !present.includes(key))
  const begun = present.filter((key) => isInterrupted || !former.includes(key))
  return {
    keys: [...ended, ...begun],
    events: [...ended.map(() => endEvent(last)), ...begun.map(() => startEvent(at))],
  }
}

/** A state of a record type with the stored text of its records. `last`: its last observation; null for the newest. */
type StoredTimelineState = { first: Instant; last: Instant | null; records: string }

/**
 * The changes that made the states of a type, which are oldest first. `interruptions`: the times in which its records
 * were not observed continuously, in any order.
 */
export function* changesOfTimeline(
  type: StateType,
  states: readonly StoredTimelineState[],
  interruptions: readonly { last_seen: Instant; seen_again: Instant }[],
): Generator<SetChange> {
  const cuts = [...interruptions].sort((a, b) => a.seen_again - b.seen_again)
  let cut = 0
  let before: StoredTimelineState | undefined
  for (const state of states) {
    const { first, last, records } = state
    while (cut < cuts.length && cuts[cut]!.seen_again < first) cut++
    const isInterrupted = cuts[cut]?.seen_again === first
    const former = isInterrupted ? cuts[cut++]!.last_seen : (before?.last ?? 0)
    yield { type, before: before?.records, last: former, after: records, at: first, isInterrupted }
    for (; cut < cuts.length && (last === null || cuts[cut]!.seen_again <= last); cut++) {
      const { last_seen, seen_again } = cuts[cut]!
      yield { type, before: records, last: last_seen, after: records, at: seen_again, isInterrupted: true }
    }
    before = state
  }
}
