/** Builds observations from sightings that are sorted by name and time. */

import { toDnsPart } from '../../observe/dns-part.ts'
import type { DnsPart, Observation } from '../../observe/observation.ts'
import type { DnsProbeResult, ObservedRecord } from '../../probe/probe-result.ts'
import type { DomainName } from '../../values/domain-name.ts'
import {
  type AnyRecord,
  isSingleType,
  RECORD_TYPES,
  type RecordsByType,
  type RecordType,
  usableRecords,
} from '../../values/records/dns-record.ts'
import type { Instant } from '../../values/time.ts'
import type { Sighting } from './sighting.ts'

/** `from`: the start of the uninterrupted range. */
type ValidRecord = { record: ObservedRecord; from: Instant; until: Instant }

/**
 * A complete record set, and a time at which it was valid. `isInterrupted`: nothing was valid in the second before, so
 * that a former set did not last until this one.
 */
type RecordSnapshot = { type: RecordType; at: Instant; records: readonly AnyRecord[]; isInterrupted: boolean }

/** Maximum number of records that are valid at once. Beyond it, those that end first are dropped. */
const MAX_VALID_RECORDS = 1000

type ValidityTimeline = ReturnType<typeof createValidityTimeline>

type QuerySighting = Extract<Sighting, { kind: 'queried' }>
/** Answers that belong together. `answeredAt`: the time of each. */
type ObservedQueries = { at: Instant; answers: DnsProbeResult; answeredAt: Map<RecordType, Instant> }
/** The state of one name. `snapshots`: record sets by time. */
type NameGathering = {
  name: DomainName
  queries: ObservedQueries | null
  validity: Map<RecordType, ValidityTimeline>
  snapshots: Map<Instant, { records: Partial<RecordsByType>; interrupted: RecordType[] }>
}

/** Queries for one name within this many seconds count as one probe. A probe of domaindex takes up to this long. */
const QUERY_GROUP_SECONDS = 60
/**
 * Snapshots held before they are emitted. Types have their own clocks, so that their snapshots need no common order.
 */
const MAX_SNAPSHOTS = 1000

/**
 * Yields the observations of sightings that are sorted by name, then by time. Null stands for a group of queries that
 * says nothing about its name, such as a single failed A query. Holds a bounded part of one name in memory.
 */
export function* observationsOf(sightings: Iterable<Sighting>): Generator<Observation | null> {
  let gathering: NameGathering | null = null
  for (const sighting of sightings) {
    if (gathering === null || gathering.name !== sighting.name) {
      if (gathering !== null) yield* finishName(gathering)
      gathering = { name: sighting.name, queries: null, validity: new Map(), snapshots: new Map() }
    }
    if (sighting.kind === 'queried') yield* addQuery(gathering, sighting)
    else {
      const { type, at, records, until } = sighting
      const validity = gathering.validity.get(type) ?? createValidityTimeline(type)
      gathering.validity.set(type, validity)
      addSnapshots(gathering, validity.add(at, records, until))
      if (gathering.snapshots.size > MAX_SNAPSHOTS) yield* emitSnapshots(gathering)
    }
  }
  if (gathering !== null) yield* finishName(gathering)
}

/** Within a group, an answer replaces a missing one. Of two answers in the same second, the first counts. */
function* addQuery(gathering: NameGathering, { type, at, answer }: QuerySighting): Generator<Observation | null> {
  const { queries } = gathering
  const known = queries?.answers[type]
  const isWithin = queries !== null && at - queries.at < QUERY_GROUP_SECONDS
  if (isWithin && known !== undefined && known.outcome !== 'failed') {
    if (answer.outcome === 'failed' || queries.answeredAt.get(type) === at) return
  }
  if (isWithin && (known === undefined || known.outcome === 'failed')) {
    queries.answers[type] = answer
    queries.answeredAt.set(type, at)
    return
  }
  if (queries !== null) yield toObservation(gathering.name, queries)
  gathering.queries = { at, answers: { [type]: answer }, answeredAt: new Map([[type, at]]) }
}

function toObservation(domain: DomainName, { at, answers }: ObservedQueries): Observation | null {
  const dns = toDnsPart(answers, 'not queried')
  return dns === null ? null : { domain, observed_at: at, dns, web: null }
}

function addSnapshots({ snapshots }: NameGathering, added: readonly RecordSnapshot[]): void {
  for (const { type, at, records, isInterrupted } of added) {
    const known = snapshots.get(at) ?? { records: {}, interrupted: [] }
    Object.assign(known.records, { [type]: records })
    if (isInterrupted) known.interrupted.push(type)
    snapshots.set(at, known)
  }
}

/** A name with records exists. */
function* emitSnapshots({ name, snapshots }: NameGathering): Generator<Observation> {
  for (const [at, { records, interrupted }] of [...snapshots].sort(([a], [b]) => a - b)) {
    const dns: DnsPart = { status: 'ok', records, ...(interrupted.length > 0 && { interrupted }) }
    yield { domain: name, observed_at: at, dns, web: null }
  }
  snapshots.clear()
}

function* finishName(gathering: NameGathering): Generator<Observation | null> {
  if (gathering.queries !== null) yield toObservation(gathering.name, gathering.queries)
  for (const type of RECORD_TYPES) addSnapshots(gathering, gathering.validity.get(type)?.end() ?? [])
  yield* emitSnapshots(gathering)
}

/**
 * Takes the ranges of one name and type in the order of their starts. Each period in which the same records are valid
 * yields two snapshots, at its first and its last second, or one if they are equal. The second after a record was last
 * seen starts a period without it, if other records are still valid. A time without any valid record yields nothing.
 */
function createValidityTimeline(type: RecordType) {
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
  const current = isSingleType(type) ? valid.filter(({ from }) => from === latest) : valid
  const set = usableRecords(
    type,
    current.map(({ record }) => record),
  )
  return isSingleType(type) ? (set ?? []).slice(-1) : (set ?? [])
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
