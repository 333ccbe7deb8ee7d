/**
 * What was seen from when to when becomes a sequence of record sets: of one type, the records that hold at the same
 * time.
 */

import type { ObservedRecord } from '../../probe/probe-result.ts'
import { type AnyRecord, type RecordType, usableRecords } from '../../values/dns-record.ts'
import type { Instant } from '../../values/time.ts'

/** `from`: when it began to be seen without a break. */
type ValidRecord = { record: ObservedRecord; from: Instant; until: Instant }

/** A record set and a time at which it was the whole one that was seen. */
export type RecordSnapshot = { type: RecordType; at: Instant; records: readonly AnyRecord[] }

/** A name has one of these at a time (RFC 1034, chapter 3.6.2; RFC 1035, chapter 3.3.13). */
const SINGLETON_TYPES: readonly RecordType[] = ['CNAME', 'SOA']
/** Records that hold at once; where there are more, those that end first are forgotten. */
const MAX_VALID_RECORDS = 1000

export type ValidityTimeline = ReturnType<typeof createValidityTimeline>

/**
 * Takes the rows of one name and type in the order of their beginnings. Each stretch of time in which the same records
 * hold gives two moments, its first second and its last (one where they are the same). The second after a record was
 * seen for the last time begins a stretch without it, where others still hold; nothing is said of a time in which none
 * holds.
 */
export function createValidityTimeline(type: RecordType) {
  const valid = new Map<string, ValidRecord>()
  let start: Instant = 0
  const snapshotsOfStretch = (last: Instant): RecordSnapshot[] => {
    const records = validRecordSet(type, [...valid.values()])
    const first = { type, at: start, records }
    return last > start ? [first, { type, at: last, records }] : [first]
  }
  /** What ended before a time. */
  const advanceTo = (time: Instant): RecordSnapshot[] => {
    const moments: RecordSnapshot[] = []
    while (valid.size > 0) {
      const next = Math.min(...[...valid.values()].map(({ until }) => until))
      if (next >= time) break
      moments.push(...snapshotsOfStretch(next))
      for (const [key, { until }] of valid) if (until === next) valid.delete(key)
      start = next + 1
    }
    return moments
  }
  return {
    add(at: Instant, records: readonly ObservedRecord[], until: Instant): RecordSnapshot[] {
      const moments = advanceTo(at)
      const keyed = records.map((record): [string, ObservedRecord] => [JSON.stringify(record), record])
      const isOther = keyed.some(([key]) => !valid.has(key))
      if (valid.size > 0 && start < at && isOther) moments.push(...snapshotsOfStretch(at - 1))
      if (valid.size === 0 || isOther) start = at
      for (const [key, record] of keyed) {
        const known = valid.get(key)
        valid.set(key, { record, from: known?.from ?? at, until: Math.max(until, known?.until ?? 0) })
      }
      dropEarliestEnding(valid)
      return moments
    },
    /** What is left. */
    end: (): RecordSnapshot[] => advanceTo(Number.POSITIVE_INFINITY),
  }
}

/** The whole set, in canonical order and within its bounds; of what stands alone, the one that began last. */
function validRecordSet(type: RecordType, valid: readonly ValidRecord[]): readonly AnyRecord[] {
  const latest = Math.max(...valid.map(({ from }) => from))
  const kept = SINGLETON_TYPES.includes(type) ? valid.filter(({ from }) => from === latest) : valid
  const set = usableRecords(
    type,
    kept.map(({ record }) => record),
  )
  return SINGLETON_TYPES.includes(type) ? (set ?? []).slice(-1) : (set ?? [])
}

function dropEarliestEnding(valid: Map<string, ValidRecord>): void {
  if (valid.size <= MAX_VALID_RECORDS) return
  const byEnd = [...valid].sort(([, a], [, b]) => b.until - a.until)
  for (const [key] of byEnd.slice(MAX_VALID_RECORDS)) valid.delete(key)
}
