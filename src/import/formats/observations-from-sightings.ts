/** Builds observations from sightings that are sorted by name and time. */

import { toDnsPart } from '../../observe/dns-part.ts'
import type { DnsPart, Observation } from '../../observe/observation.ts'
import type { DnsProbeResult } from '../../probe/probe-result.ts'
import type { DomainName } from '../../values/domain-name.ts'
import { RECORD_TYPES, type RecordsByType, type RecordType } from '../../values/records/dns-record.ts'
import type { Instant } from '../../values/time.ts'
import type { Sighting } from './sighting.ts'
import { createValidityTimeline, type RecordSnapshot, type ValidityTimeline } from './validity-timeline.ts'

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
