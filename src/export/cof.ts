/** Passive DNS in the Common Output Format (draft-dulaunoy-dnsop-passive-dns-cof). */

import type { Interruption } from '../apply/change.ts'
import { compareBytewise } from '../values/bytewise-order.ts'
import type { DomainName } from '../values/domain-name.ts'
import type { AnyRecord, RecordType } from '../values/records/dns-record.ts'
import { formatPresentation } from '../values/records/presentation.ts'
import type { Instant } from '../values/time.ts'

/** A state of a record type: the same records at all observations of the type from `first_seen` to `last_seen`. */
export type RecordState = { first_seen: Instant; last_seen: Instant; records: readonly AnyRecord[] }

/** The data of one record, and the first and last observation of an uninterrupted time that showed it. */
export type Span = { rdata: string; first: Instant; last: Instant }

/** The states of a record type, and the times in which they were not observed continuously, in any order. */
export type RecordTimeline = { states: readonly RecordState[]; interruptions: readonly Interruption[] }

/**
 * The lines for one name and type, without line feeds, the latest `time_last` first. One line for each record and
 * uninterrupted time of being observed, because the format describes single records. A time without records has no
 * line.
 */
export function cofLines(name: DomainName, type: RecordType, timeline: RecordTimeline): string[] {
  return recordSpans(type, timeline)
    .sort((a, b) => b.last - a.last || b.first - a.first || compareBytewise(a.rdata, b.rdata))
    .map(({ rdata, first, last }) => cofLine(name, type, rdata, first, last))
}

/** One line without its line feed. Times are Unix seconds. */
export function cofLine(name: DomainName, type: RecordType, rdata: string, first: Instant, last: Instant): string {
  return `{"rrname":"${name}","rrtype":"${type}","rdata":${JSON.stringify(rdata)},"time_first":${first},"time_last":${last}}`
}

/** The uninterrupted times in which each record was observed, in no order. */
export function recordSpans(type: RecordType, timeline: RecordTimeline): Span[] {
  const spans: Span[] = []
  let present = new Map<string, Instant>()
  let last: Instant = 0
  for (const period of periodsOf(timeline)) {
    const next = new Map<string, Instant>()
    for (const record of period.records) {
      const rdata = formatPresentation(type, record)
      next.set(rdata, (period.isContinued ? present.get(rdata) : undefined) ?? period.first_seen)
    }
    for (const [rdata, first] of present) if (next.get(rdata) !== first) spans.push({ rdata, first, last })
    present = next
    last = period.last_seen
  }
  for (const [rdata, first] of present) spans.push({ rdata, first, last })
  return spans
}

/**
 * Yields the states, oldest first, cut at each interruption. `isContinued`: none lies between it and the one before.
 */
export function* periodsOf({
  states,
  interruptions,
}: RecordTimeline): Generator<RecordState & { isContinued: boolean }> {
  const cuts = [...interruptions].sort((a, b) => a.seen_again - b.seen_again)
  let cut = 0
  for (const { first_seen, last_seen, records } of [...states].sort((a, b) => a.first_seen - b.first_seen)) {
    while (cut < cuts.length && cuts[cut]!.seen_again < first_seen) cut++
    let from = first_seen
    let isContinued = cuts[cut]?.seen_again !== first_seen
    if (!isContinued) cut++
    for (; cut < cuts.length && cuts[cut]!.seen_again <= last_seen; cut++) {
      yield { first_seen: from, last_seen: cuts[cut]!.last_seen, records, isContinued }
      from = cuts[cut]!.seen_again
      isContinued = false
    }
    yield { first_seen: from, last_seen, records, isContinued }
  }
}
