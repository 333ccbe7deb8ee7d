/** Lines of passive DNS in the Common Output Format (draft-dulaunoy-dnsop-passive-dns-cof): records, and from when to when they were seen. */

import type { GivenRecord } from '../../crawl/visit.ts'
import { parseName } from '../../words/name.ts'
import { canonicalRecords, RECORD_TYPES } from '../../words/record.ts'
import { type Instant, parseInstant } from '../../words/time.ts'
import { parseObject, whyNotDomain } from '../json.ts'
import { fromPresentation } from './presentation.ts'
import { eachLine, type Format, NO_TIME, type Taken } from './sighting.ts'

type Given = Record<string, unknown>
type Time = { from: Instant; until: Instant }

/** Where a line says when: seen by sensors, in zone files, and by sensors in milliseconds. A number is in such a part of a second. */
const TIMES = [
  { first: 'time_first', last: 'time_last', unit: 1 },
  { first: 'zone_time_first', last: 'zone_time_last', unit: 1 },
  { first: 'time_first_ms', last: 'time_last_ms', unit: 1000 },
] as const
const LATEST = parseInstant('9999-12-31T23:59:59Z')!

/** `count`, `bailiwick`, `rdata_raw` and whatever else there is are not read. */
export const cof: Format = (observedAt) => eachLine((line) => readLine(line, observedAt))

function readLine(line: string, observedAt: Instant | null): Taken {
  const given = parseObject(line)
  if (typeof given === 'string') return given
  const { rrname, rrtype, rdata } = given
  if (typeof rrtype !== 'string' && typeof rrtype !== 'number') return 'rrtype: must be a text or a number'
  const type = RECORD_TYPES.find((each) => each === String(rrtype).toUpperCase())
  if (type === undefined) return []
  const name = typeof rrname === 'string' ? parseName(rrname) : null
  if (name === null) return `rrname: ${whyNotDomain(rrname)}`
  const list: unknown[] = Array.isArray(rdata) ? rdata : [rdata]
  if (list.length === 0 || !list.every((each) => typeof each === 'string'))
    return 'rdata: must be a text or a list of texts'
  const records = list.map((each) => fromPresentation(type, each))
  const set = canonicalRecords(type, records)
  if (typeof set === 'string') return `rdata: ${set}`
  const times = readTimes(given, observedAt)
  if (typeof times === 'string') return times
  const kept = records as GivenRecord[]
  return times.map(({ from, until }) => ({ name, at: from, kind: 'held', type, records: kept, until }))
}

/** One or several; a text where there is none, or one that cannot be read. */
function readTimes(given: Given, observedAt: Instant | null): Time[] | string {
  const times: Time[] = []
  for (const { first, last, unit } of TIMES) {
    if (given[first] === undefined && given[last] === undefined) continue
    const [from, until] = [readTime(given[first], unit), readTime(given[last], unit)]
    if (from === null) return `${first}: must be a Unix time or an RFC 3339 time`
    if (until === null) return `${last}: must be a Unix time or an RFC 3339 time`
    if (until < from) return `${last}: is before ${first}`
    times.push({ from, until })
  }
  if (times.length > 0) return times
  return observedAt === null ? NO_TIME : [{ from: observedAt, until: observedAt }]
}

function readTime(given: unknown, unit: number): Instant | null {
  if (typeof given === 'string') return parseInstant(given)
  if (typeof given !== 'number') return null
  const seconds = Math.floor(given / unit)
  return seconds >= 0 && seconds <= LATEST ? seconds : null
}
