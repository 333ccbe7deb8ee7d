/** What was seen from when to when becomes a sequence of record sets: of one type, the records that hold at the same time. */

import type { GivenRecord } from '../../crawl/visit.ts'
import { type AnyRecord, keptRecords, type RecordType } from '../../words/record.ts'
import type { Instant } from '../../words/time.ts'

/** `from`: when it began to be seen without a break. */
type Holding = { record: GivenRecord; from: Instant; until: Instant }

/** A record set and a time at which it was the whole one that was seen. */
export type Moment = { type: RecordType; at: Instant; records: readonly AnyRecord[] }

/** A name has one of these at a time (RFC 1034, chapter 3.6.2; RFC 1035, chapter 3.3.13). */
const ALONE: readonly RecordType[] = ['CNAME', 'SOA']
/** Records that hold at once; where there are more, those that end first are forgotten. */
const MOST_HOLDING = 1000

export type Spans = ReturnType<typeof spansOf>

/**
 * Takes the rows of one name and type in the order of their beginnings. Each stretch of time in which the same records hold
 * gives two moments, its first second and its last (one where they are the same). The second after a record was seen for the
 * last time begins a stretch without it, where others still hold; nothing is said of a time in which none holds.
 */
export function spansOf(type: RecordType) {
  const holding = new Map<string, Holding>()
  let start: Instant = 0
  const close = (last: Instant): Moment[] => {
    const records = setOf(type, [...holding.values()])
    const first = { type, at: start, records }
    return last > start ? [first, { type, at: last, records }] : [first]
  }
  /** What ended before a time. */
  const runTo = (time: Instant): Moment[] => {
    const moments: Moment[] = []
    while (holding.size > 0) {
      const next = Math.min(...[...holding.values()].map(({ until }) => until))
      if (next >= time) break
      moments.push(...close(next))
      for (const [key, { until }] of holding) if (until === next) holding.delete(key)
      start = next + 1
    }
    return moments
  }
  return {
    add(at: Instant, records: readonly GivenRecord[], until: Instant): Moment[] {
      const moments = runTo(at)
      const keyed = records.map((record): [string, GivenRecord] => [JSON.stringify(record), record])
      const isOther = keyed.some(([key]) => !holding.has(key))
      if (holding.size > 0 && start < at && isOther) moments.push(...close(at - 1))
      if (holding.size === 0 || isOther) start = at
      for (const [key, record] of keyed) {
        const known = holding.get(key)
        holding.set(key, { record, from: known?.from ?? at, until: Math.max(until, known?.until ?? 0) })
      }
      forgetFirst(holding)
      return moments
    },
    /** What is left. */
    end: (): Moment[] => runTo(Number.POSITIVE_INFINITY),
  }
}

/** The whole set, in canonical order and within its bounds; of what stands alone, the one that began last. */
function setOf(type: RecordType, holding: readonly Holding[]): readonly AnyRecord[] {
  const latest = Math.max(...holding.map(({ from }) => from))
  const kept = ALONE.includes(type) ? holding.filter(({ from }) => from === latest) : holding
  const set = keptRecords(
    type,
    kept.map(({ record }) => record),
  )
  return ALONE.includes(type) ? (set ?? []).slice(-1) : (set ?? [])
}

function forgetFirst(holding: Map<string, Holding>): void {
  if (holding.size <= MOST_HOLDING) return
  const byEnd = [...holding].sort(([, a], [, b]) => b.until - a.until)
  for (const [key] of byEnd.slice(MOST_HOLDING)) holding.delete(key)
}
