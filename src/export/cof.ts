/** Passive DNS in the Common Output Format (draft-dulaunoy-dnsop-passive-dns-cof). */

import { compareBytewise } from '../values/bytewise-order.ts'
import type { DomainName } from '../values/domain-name.ts'
import type { AnyRecord, RecordType } from '../values/records/dns-record.ts'
import { formatPresentation } from '../values/records/presentation.ts'
import type { Instant } from '../values/time.ts'

/** A state of a record type: the records from `first_seen` until the next state. */
export type RecordState = { first_seen: Instant; records: readonly AnyRecord[] }

/** The data of one record, and an uninterrupted time in which it was there, both ends included. */
type Span = { rdata: string; first: Instant; last: Instant }

/**
 * The lines for one name and type, without line feeds, the latest `time_last` first. `states` are newest first.
 * `observed`: when the type was last observed. One line for each record and uninterrupted time, because the format
 * describes single records. `time_last` is `observed` for the records of the newest state, and the second before the
 * next state for others. A time without records has no line.
 */
export function cofLines(
  name: DomainName,
  type: RecordType,
  states: readonly RecordState[],
  observed: Instant,
): string[] {
  return recordSpans(type, states, observed)
    .sort((a, b) => b.last - a.last || b.first - a.first || compareBytewise(a.rdata, b.rdata))
    .map(({ rdata, first, last }) => cofLine(name, type, rdata, first, last))
}

/** One line without its line feed. Times are Unix seconds. */
export function cofLine(name: DomainName, type: RecordType, rdata: string, first: Instant, last: Instant): string {
  return `{"rrname":"${name}","rrtype":"${type}","rdata":${JSON.stringify(rdata)},"time_first":${first},"time_last":${last}}`
}

function recordSpans(type: RecordType, states: readonly RecordState[], observed: Instant): Span[] {
  const spans: Span[] = []
  let present = new Map<string, Instant>()
  const close = (rdata: string, last: Instant): void => {
    spans.push({ rdata, first: present.get(rdata)!, last })
  }
  for (const { first_seen, records } of states.toReversed()) {
    const next = new Map<string, Instant>()
    for (const record of records) {
      const rdata = formatPresentation(type, record)
      next.set(rdata, present.get(rdata) ?? first_seen)
    }
    for (const rdata of present.keys()) if (!next.has(rdata)) close(rdata, first_seen - 1)
    present = next
  }
  const last = Math.max(observed, states[0]?.first_seen ?? 0)
  for (const rdata of present.keys()) close(rdata, last)
  return spans
}
