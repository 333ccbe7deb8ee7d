/** Turns time ranges of records of one type into a sequence of record sets. */

import type { ObservedRecord } from '../../probe/probe-result.ts'
import { type AnyRecord, type RecordType, usableRecords } from '../../values/records/dns-record.ts'
import type { Instant } from '../../values/time.ts'

/** `from`: the start of the uninterrupted range. */
type ValidRecord = { record: ObservedRecord; from: Instant; until: Instant }

/**
 * A complete record set, and a time at which it was valid. `isInterrupted`: nothing was valid in the second before, so
 * that a former set did not last until this one.
 */
export type RecordSnapshot = { type: RecordType; at: Instant; records: readonly AnyRecord[]; isInterrupted: boolean }

/** A name has at most one record of these types at a time (RFC 1034, section 3.6.2; RFC 1035, section 3.3.13). */
const SINGLETON_TYPES: readonly RecordType[] = ['CNAME', 'SOA']
/** Maximum number of records that are valid at once. Beyond it, those that end first are dropped. */
const MAX_VALID_RECORDS = 1000

export type ValidityTimeline = ReturnType<typeof createValidityTimeline>

/**
 * Takes the ranges of one name and type in the order of their starts. Each period in which the same records are valid
 * yields two snapshots, at its first and its last second, or one if they are equal. The second after a record was last
 * seen starts a period without it, if other records are still valid. A time without any valid record yields nothing.
 */
export function createValidityTimeline(type: RecordType) {
  const valid = new Map<string, ValidRecord>()
  let start: Instant = 0
  let isInterrupted = false
  const snapshotsOfPeriod = (last: Instant): RecordSnapshot[] => {
    const records = validRecordSet(type, [...valid.values()])
    const first = { type, at: start, records, isInterrupted }
    isInterrupted = false
    return last > start ? [first, { ...first, at: last, isInterrupted }] : [first]
  }
  /** Returns the snapshots of periods that ended before a time. */
  const advanceTo = (time: Instant): RecordSnapshot[] => {
    const snapshots: RecordSnapshot[] = []
    for (let next = earliestEnd(valid); next < time; next = earliestEnd(valid)) {
      snapshots.push(...snapshotsOfPeriod(next))
      for (const [key, { until }] of valid) if (until === next) valid.delete(key)
      start = next + 1
    }
    return snapshots
  }
  return {
    add(at: Instant, records: readonly ObservedRecord[], until: Instant): RecordSnapshot[] {
      const snapshots = advanceTo(at)
      const keyed = records.map((record): [string, ObservedRecord] => [JSON.stringify(record), record])
      const isOther = keyed.some(([key]) => !valid.has(key))
      if (valid.size > 0 && start < at && isOther) snapshots.push(...snapshotsOfPeriod(at - 1))
      if (valid.size === 0) isInterrupted = true
      if (valid.size === 0 || isOther) start = at
      for (const [key, record] of keyed) {
        const known = valid.get(key)
        valid.set(key, { record, from: known?.from ?? at, until: Math.max(until, known?.until ?? 0) })
      }
      dropEarliestEnding(valid)
      return snapshots
    },
    /** Returns the remaining snapshots. */
    end: (): RecordSnapshot[] => advanceTo(Number.POSITIVE_INFINITY),
  }
}

/**
 * Returns the complete set in canonical order and within its limits. Of a singleton type, the record that started last
 * counts.
 */
function validRecordSet(type: RecordType, valid: readonly ValidRecord[]): readonly AnyRecord[] {
  const latest = Math.max(...valid.map(({ from }) => from))
  const current = SINGLETON_TYPES.includes(type) ? valid.filter(({ from }) => from === latest) : valid
  const set = usableRecords(
    type,
    current.map(({ record }) => record),
  )
  return SINGLETON_TYPES.includes(type) ? (set ?? []).slice(-1) : (set ?? [])
}

/** Infinity if no record is valid. */
function earliestEnd(valid: ReadonlyMap<string, ValidRecord>): Instant {
  return Math.min(...[...valid.values()].map(({ until }) => until))
}

function dropEarliestEnding(valid: Map<string, ValidRecord>): void {
  if (valid.size <= MAX_VALID_RECORDS) return
  const byEnd = [...valid].sort(([, a], [, b]) => b.until - a.until)
  for (const [key] of byEnd.slice(MAX_VALID_RECORDS)) valid.delete(key)
}
