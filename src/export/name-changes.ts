/** When a name changed, and in what, from the history that the store keeps of it. */

import type { FactsReader, PastState } from '../store/port/store.ts'
import type { DomainName } from '../values/domain-name.ts'
import { RECORD_TYPES, type RecordType, type SOARecord } from '../values/records/dns-record.ts'
import type { Instant } from '../values/time.ts'
import type { DifferenceType } from '../values/watch-kind.ts'
import { differencesOf } from '../watch/difference.ts'

export type NameChange = { type: DifferenceType; at: Instant }
/** `isCut`: whether changes are missing, because a part of the name has too many states. */
export type NameChanges = { changes: NameChange[]; isCut: boolean }

/**
 * The changes of a name at or after `since`, newest first. Of each part at most `limit` states are read. A time in which
 * the name did not exist is known by its end, or by its start if it still lasts.
 */
export async function readNameChanges(
  facts: FactsReader,
  name: DomainName,
  since: Instant,
  limit: number,
): Promise<NameChanges> {
  const parts = await Promise.all([
    recordChanges(facts, name, since, limit),
    websiteChanges(facts, name, since, limit),
    certificateChanges(facts, name, since, limit),
  ])
  const changes = parts.flatMap((part) => part.changes).filter(({ at }) => at >= since)
  return { changes: changes.sort((a, b) => b.at - a.at), isCut: parts.some(({ isCut }) => isCut) }
}

async function recordChanges(
  facts: FactsReader,
  name: DomainName,
  since: Instant,
  limit: number,
): Promise<NameChanges> {
  const { byType } = await facts.history(name, RECORD_TYPES, null, limit)
  const interruptions = await Promise.all(RECORD_TYPES.map((type) => facts.interruptions(name, type, null, limit)))
  const changes: NameChange[] = interruptions.flat().map(({ seen_again }) => ({ type: 'status', at: seen_again }))
  for (const type of RECORD_TYPES) {
    const { states, absent_since } = byType[type]
    for (const [index, state] of states.entries())
      if (isRecordChange(type, states[index + 1], state)) changes.push({ type: 'records', at: state.first_seen })
    if (absent_since !== null) changes.push({ type: 'status', at: absent_since })
  }
  return { changes, isCut: RECORD_TYPES.some((type) => isCut(byType[type], since)) }
}

/** Whether a state differs from the one before as a watch sees it: not in the serial of an SOA alone. */
function isRecordChange(type: RecordType, before: PastState | undefined, { records }: PastState): boolean {
  if (before === undefined) return records !== '[]'
  return type !== 'SOA' || withoutSerials(before.records) !== withoutSerials(records)
}

function withoutSerials(records: string): string {
  const list = JSON.parse(records) as SOARecord[]
  return JSON.stringify(list.length === 1 ? list.map((each) => ({ ...each, serial: 0 })) : list)
}

async function websiteChanges(facts: FactsReader, name: DomainName, since: Instant, limit: number) {
  const history = await facts.webHistory(name, null, limit)
  const changes = history.states.flatMap(({ first_seen: at, verdict: after }, index): NameChange[] => {
    const before = history.states[index + 1]?.verdict ?? null
    return differencesOf({ type: 'verdict', before, after, at }, []).map(({ type }) => ({
      type: type as DifferenceType,
      at,
    }))
  })
  return { changes, isCut: isCut(history, since) }
}

async function certificateChanges(facts: FactsReader, name: DomainName, since: Instant, limit: number) {
  const history = await facts.certificateHistory(name, null, limit)
  const changes = history.states.map(({ first_seen: at }): NameChange => ({ type: 'certificate', at }))
  return { changes, isCut: isCut(history, since) }
}

/** Whether a page of states, newest first, ends before the time that is asked for. */
function isCut(
  { states, more }: { states: readonly { first_seen: Instant }[]; more: boolean },
  since: Instant,
): boolean {
  return more && states.at(-1)!.first_seen >= since
}
