/** Reads the timelines of a name, and the records of spans of the inverse index, from the store. */

import { CLOCK_INDEX } from '../apply/stored-numbers.ts'
import type { InverseSpan, SpanData } from '../store/port/inverse.ts'
import type { FactsReader, History } from '../store/port/store.ts'
import type { DomainName } from '../values/domain-name.ts'
import type { AnyRecord, RecordType, SOARecord } from '../values/records/dns-record.ts'
import type { Instant } from '../values/time.ts'
import type { RecordTimeline } from './cof.ts'

/** The newest interruptions of a type that are considered. Times before them are left out. */
const MAX_INTERRUPTIONS = 1_000
/** States of a type that are read at once, and the characters of their records after which no further ones are read. */
const STATES_PER_READ = 100
const MAX_CHARACTERS = 4 * 2 ** 20

/** `more`: there are older states, or older times before an interruption. */
export type TypeTimeline = { type: RecordType; timeline: RecordTimeline; more: boolean }

/**
 * The newest states of types, with the interruptions between them. The reads are in an order in which a write between
 * them makes a time shorter, never longer: a clock before its states, and states before their interruptions.
 */
export async function readTimelines(
  facts: FactsReader,
  name: DomainName,
  types: readonly RecordType[],
  limit: number,
): Promise<TypeTimeline[]> {
  const [clocks] = await facts.partClocks([name])
  const { byType } = await facts.history(name, types, null, Math.min(limit, STATES_PER_READ))
  return Promise.all(
    types.map(async (type) => {
      const { states, more } = await readFurther(facts, name, type, byType[type], limit)
      const interruptions = states.length === 0 ? [] : await facts.interruptions(name, type, null, MAX_INTERRUPTIONS)
      const isCut = interruptions.length === MAX_INTERRUPTIONS
      const from = isCut ? interruptions.at(-1)!.seen_again : 0
      const known = states.map(({ first_seen, last_confirmed, records }) => ({
        first_seen: Math.max(first_seen, from),
        last_seen: last_confirmed ?? Math.max(first_seen, clocks![CLOCK_INDEX[type]]!),
        records: JSON.parse(records) as AnyRecord[],
      }))
      const timeline = { states: known.filter(({ last_seen }) => last_seen >= from), interruptions }
      return { type, timeline, more: more || isCut }
    }),
  )
}

/** The states of a first page and older ones, up to the limit, or until they have many characters. */
async function readFurther(
  facts: FactsReader,
  name: DomainName,
  type: RecordType,
  first: StatePage,
  limit: number,
): Promise<StatePage> {
  const states = [...first.states]
  let { more } = first
  let length = lengthOf(states)
  while (more && states.length < limit && length < MAX_CHARACTERS) {
    const count = Math.min(STATES_PER_READ, limit - states.length)
    const page = (await facts.history(name, [type], states.at(-1)!.first_seen, count)).byType[type]
    states.push(...page.states)
    length += lengthOf(page.states)
    more = page.more
  }
  return { states, more }
}

type StatePage = Pick<History, 'states' | 'more'>

function lengthOf(states: StatePage['states']): number {
  return states.reduce((sum, { records }) => sum + records.length, 0)
}

/**
 * The record that a span shows. For an SOA, which the index finds by one of its names, it is the one at the end of the
 * span; null if the name has been forgotten since.
 */
export function recordOfSpan(
  facts: Pick<FactsReader, 'history'>,
  { name, data, last }: InverseSpan,
): AnyRecord | Promise<AnyRecord | null> {
  return data.type === 'SOA' ? soaAt(facts, name, last) : recordOfData(data)
}

async function soaAt(
  facts: Pick<FactsReader, 'history'>,
  name: DomainName,
  instant: Instant,
): Promise<SOARecord | null> {
  const { SOA } = (await facts.history(name, ['SOA'], instant + 1, 1)).byType
  const [record] = JSON.parse(SOA.states[0]?.records ?? '[]') as SOARecord[]
  return record ?? null
}

function recordOfData(data: Exclude<SpanData, { type: 'SOA' }>): AnyRecord {
  switch (data.type) {
    case 'A':
      return { ipv4_address: data.address }
    case 'AAAA':
      return { ipv6_address: data.address }
    case 'NS':
      return { nameserver: data.host }
    case 'CNAME':
      return { target: data.host }
    case 'MX':
      return { priority: data.priority, mail_server: data.host }
    case 'TXT':
      return { text: data.parts.join(''), parts: [...data.parts] }
  }
}
