/** Reads passive DNS in the Common Output Format (draft-dulaunoy-dnsop-passive-dns-cof): records with time ranges. */

import { domainProblem, parseJsonObject } from '../../observe/json.ts'
import type { ObservedRecord } from '../../probe/probe-result.ts'
import { parseName } from '../../values/domain-name.ts'
import { canonicalRecordSet, RECORD_TYPES } from '../../values/records/dns-record.ts'
import { type Instant, parseInstant } from '../../values/time.ts'
import { parsePresentation } from './presentation.ts'
import { type ImportFormat, lineByLine, NO_TIME_PROBLEM, type ParsedLine } from './sighting.ts'

type CofEntry = Record<string, unknown>
type TimeRange = { from: Instant; until: Instant }

/**
 * The time fields of a line: seen by sensors, seen in zone files, and seen by sensors in milliseconds. `unitsPerSecond`
 * is the unit of a number.
 */
const TIME_FIELDS = [
  { first: 'time_first', last: 'time_last', unitsPerSecond: 1 },
  { first: 'zone_time_first', last: 'zone_time_last', unitsPerSecond: 1 },
  { first: 'time_first_ms', last: 'time_last_ms', unitsPerSecond: 1000 },
] as const
const MAX_INSTANT = parseInstant('9999-12-31T23:59:59Z')!

/** Ignores `count`, `bailiwick`, `rdata_raw` and other fields. */
export const cofFormat: ImportFormat = (observedAt) => lineByLine((line) => parseCofLine(line, observedAt))

function parseCofLine(line: string, observedAt: Instant | null): ParsedLine {
  const value = parseJsonObject(line)
  if (typeof value === 'string') return value
  const { rrname, rrtype, rdata } = value
  if (typeof rrtype !== 'string' && typeof rrtype !== 'number') return 'rrtype: must be a text or a number'
  const type = RECORD_TYPES.find((each) => each === String(rrtype).toUpperCase())
  if (type === undefined) return []
  const name = typeof rrname === 'string' ? parseName(rrname) : null
  if (name === null) return `rrname: ${domainProblem(rrname)}`
  const list: unknown[] = Array.isArray(rdata) ? rdata : [rdata]
  if (list.length === 0 || !list.every((each) => typeof each === 'string'))
    return 'rdata: must be a text or a list of texts'
  const records = list.map((each) => parsePresentation(type, each))
  const set = canonicalRecordSet(type, records)
  if (typeof set === 'string') return `rdata: ${set}`
  const times = parseCofTimes(value, observedAt)
  if (typeof times === 'string') return times
  const checkedRecords = records as ObservedRecord[]
  return times.map(({ from, until }) => ({ name, at: from, kind: 'observed', type, records: checkedRecords, until }))
}

/** Returns one or more time ranges, or the problem if there is none or one is invalid. */
function parseCofTimes(value: CofEntry, observedAt: Instant | null): TimeRange[] | string {
  const times: TimeRange[] = []
  for (const { first, last, unitsPerSecond } of TIME_FIELDS) {
    if (value[first] === undefined && value[last] === undefined) continue
    const [from, until] = [parseCofTime(value[first], unitsPerSecond), parseCofTime(value[last], unitsPerSecond)]
    if (from === null) return `${first}: must be a Unix time or an RFC 3339 time`
    if (until === null) return `${last}: must be a Unix time or an RFC 3339 time`
    if (until < from) return `${last}: is before ${first}`
    times.push({ from, until })
  }
  if (times.length > 0) return times
  return observedAt === null ? NO_TIME_PROBLEM : [{ from: observedAt, until: observedAt }]
}

function parseCofTime(value: unknown, unitsPerSecond: number): Instant | null {
  if (typeof value === 'string') return parseInstant(value)
  if (typeof value !== 'number') return null
  const seconds = Math.floor(value / unitsPerSecond)
  return seconds >= 0 && seconds <= MAX_INSTANT ? seconds : null
}
