/** Makes observations of the sightings of each name, once they stand together in the order of time. */

import type { DnsSeen } from '../../crawl/visit.ts'
import type { Name } from '../../words/name.ts'
import { RECORD_TYPES, type Records, type RecordType } from '../../words/record.ts'
import type { Instant } from '../../words/time.ts'
import type { Observation } from '../observation.ts'
import { dnsPart } from '../records.ts'
import type { Sighting } from './sighting.ts'
import { type Moment, type Spans, spansOf } from './spans.ts'

type Asked = Extract<Sighting, { kind: 'asked' }>
/** Answers that belong together. `times`: when each came. */
type Visit = { at: Instant; seen: DnsSeen; times: Map<RecordType, Instant> }
/** What is under way for one name. `moments`: record sets by their time. */
type Gathering = {
  name: Name
  visit: Visit | null
  spans: Map<RecordType, Spans>
  moments: Map<Instant, Partial<Records>>
}

/** Questions for one name within this many seconds are one visit, as long as one of our own may take. */
const VISIT_SECONDS = 60
/** Kept before they are handed on; types have clocks of their own, so that they need not come in one order. */
const MOST_MOMENTS = 1000

/**
 * The observations of sightings that come name by name, those of each in the order of time. Null stands for a visit that
 * says nothing of its name, such as an A that failed alone. Holds no more than a bounded part of one name.
 */
export function* observationsOf(sightings: Iterable<Sighting>): Generator<Observation | null> {
  let gathering: Gathering | null = null
  for (const sighting of sightings) {
    if (gathering === null || gathering.name !== sighting.name) {
      if (gathering !== null) yield* finish(gathering)
      gathering = { name: sighting.name, visit: null, spans: new Map(), moments: new Map() }
    }
    if (sighting.kind === 'asked') yield* ask(gathering, sighting)
    else {
      const { type, at, records, until } = sighting
      const spans = gathering.spans.get(type) ?? spansOf(type)
      gathering.spans.set(type, spans)
      keep(gathering, spans.add(at, records, until))
      if (gathering.moments.size > MOST_MOMENTS) yield* handOn(gathering)
    }
  }
  if (gathering !== null) yield* finish(gathering)
}

/** Within a visit an answer is better than none, and of two that came in the same second the first counts. */
function* ask(gathering: Gathering, { type, at, answer }: Asked): Generator<Observation | null> {
  const { visit } = gathering
  const known = visit?.seen[type]
  const isWithin = visit !== null && at - visit.at < VISIT_SECONDS
  if (isWithin && known !== undefined && known.outcome !== 'failed') {
    if (answer.outcome === 'failed' || visit.times.get(type) === at) return
  }
  if (isWithin && (known === undefined || known.outcome === 'failed')) {
    visit.seen[type] = answer
    visit.times.set(type, at)
    return
  }
  if (visit !== null) yield observationOf(gathering.name, visit)
  gathering.visit = { at, seen: { [type]: answer }, times: new Map([[type, at]]) }
}

function observationOf(domain: Name, { at, seen }: Visit): Observation | null {
  const dns = dnsPart(seen, 'not asked')
  return dns === null ? null : { domain, observed_at: at, dns, web: null }
}

function keep({ moments }: Gathering, made: readonly Moment[]): void {
  for (const { type, at, records } of made) {
    const set = moments.get(at) ?? {}
    moments.set(at, Object.assign(set, { [type]: records }))
  }
}

/** Whoever has records is there. */
function* handOn({ name, moments }: Gathering): Generator<Observation> {
  for (const [at, records] of [...moments].sort(([a], [b]) => a - b))
    yield { domain: name, observed_at: at, dns: { status: 'ok', records }, web: null }
  moments.clear()
}

function* finish(gathering: Gathering): Generator<Observation | null> {
  if (gathering.visit !== null) yield observationOf(gathering.name, gathering.visit)
  for (const type of RECORD_TYPES) keep(gathering, gathering.spans.get(type)?.end() ?? [])
  yield* handOn(gathering)
}
