/**
 * What a store that ended at a moment would show: the records of a name, whether it existed, and who was on addresses.
 * docs/decisions/0058-as-of-a-date.md says what is exact.
 */

import { CLOCK_INDEX } from '../apply/stored-numbers.ts'
import type { InverseReader, InverseSpan, SpanPage } from '../store/port/inverse.ts'
import type { FactsReader, History, PastState } from '../store/port/store.ts'
import type { DomainName } from '../values/domain-name.ts'
import type { IpAddress } from '../values/ip-address.ts'
import { RECORD_TYPES, type RecordType } from '../values/records/dns-record.ts'
import type { Instant } from '../values/time.ts'
import { readSpanPage, type SpanSource, type TimeQuestion } from './span-page.ts'

/** The newest interruptions of a state that are considered. */
const MAX_INTERRUPTIONS = 1_000
/** States that are read for the first times of addresses: at once, and in total. */
const STATES_PER_READ = 100
const MAX_STATES = 1_000

/**
 * The newest state that began by a moment. `records`: JSON. `last_seen`: when it was last observed in the uninterrupted
 * time that the moment is in, or follows. After the moment: it was observed before and after it. Null: unknown.
 */
export type StateAsOf = { first_seen: Instant; last_seen: Instant | null; records: string }
/** `exists`: whether the name existed at the moment; null if nothing that the store keeps says it. */
export type DnsAsOf = { states: Partial<Record<RecordType, StateAsOf>>; exists: boolean | null }

/**
 * Reads the DNS of a name as of a moment. The reads are in an order in which a write between them makes a time shorter,
 * never longer: clocks before states, and states before their interruptions. `isAbsentNow`: the name does not exist now.
 */
export async function readDnsAsOf(
  facts: FactsReader,
  name: DomainName,
  moment: Instant,
  isAbsentNow: boolean,
): Promise<DnsAsOf> {
  const [clocks] = await facts.partClocks([name])
  const { byType } = await facts.history(name, RECORD_TYPES, moment + 1, 1)
  const states: DnsAsOf['states'] = {}
  const evidence = await Promise.all(
    RECORD_TYPES.map(async (type): Promise<Evidence | null> => {
      const [state] = byType[type].states
      if (state === undefined) return null
      const last = state.last_confirmed ?? Math.max(state.first_seen, clocks![CLOCK_INDEX[type]]!)
      const last_seen = await lastSeenOf(facts, name, type, { ...state, last }, moment)
      const { first_seen, records } = state
      states[type] = { first_seen, last_seen, records }
      const absent = state.last_confirmed === null ? byType[type].absent_since : null
      return {
        type,
        first_seen,
        last_seen,
        last,
        isNewest: state.last_confirmed === null,
        isEmpty: records === '[]',
        absent,
      }
    }),
  )
  const known = evidence.filter((each) => each !== null)
  return {
    states,
    exists: existsAt(known, moment, isAbsentNow) ?? ((await wasNeverAbsent(facts, name, known, moment)) ? true : null),
  }
}

/**
 * `last`: when the state was last observed. `absent`: when the name was first observed not to exist since then, if no
 * other state followed.
 */
type Evidence = Pick<StateAsOf, 'first_seen' | 'last_seen'> & {
  type: RecordType
  last: Instant
  isNewest: boolean
  isEmpty: boolean
  absent: Instant | null
}

/** The end of the uninterrupted time in which a state was observed, and which `moment` is in or follows. */
async function lastSeenOf(
  facts: FactsReader,
  name: DomainName,
  type: RecordType,
  { first_seen, last }: { first_seen: Instant; last: Instant },
  moment: Instant,
): Promise<Instant | null> {
  if (last <= moment) return last
  const cuts = await facts.interruptions(name, type, last + 1, MAX_INTERRUPTIONS)
  const later = cuts.filter(({ seen_again }) => seen_again > moment && seen_again > first_seen)
  if (later.length === MAX_INTERRUPTIONS) return null
  return later.at(-1)?.last_seen ?? last
}

/**
 * Records that were observed before and after a moment, without an interruption, show that the name existed at it. So do
 * records before the first observation that it does not exist, and records after which none is known. It did not exist
 * if that was the newest of all.
 */
function existsAt(evidence: readonly Evidence[], moment: Instant, isAbsentNow: boolean): boolean | null {
  let newestSeen = 0
  let newestAbsent = 0
  for (const { first_seen, last_seen, last, isNewest, isEmpty, absent } of evidence) {
    if (!isEmpty && last_seen !== null && last_seen >= moment) return true
    const isLater = absent === null ? isNewest && !isAbsentNow : moment < absent
    if (!isEmpty && last <= moment && isLater) return true
    newestSeen = Math.max(newestSeen, first_seen, last_seen !== null && last_seen <= moment ? last_seen : 0)
    if (absent !== null && absent <= moment) newestAbsent = Math.max(newestAbsent, absent)
  }
  return newestAbsent > newestSeen ? false : null
}

/**
 * Whether records of some type were observed before and after a moment, with other ones next and without an absence in
 * between. An absence between records is an interruption that begins at the last observation of the former ones.
 */
async function wasNeverAbsent(
  facts: FactsReader,
  name: DomainName,
  evidence: readonly Evidence[],
  moment: Instant,
): Promise<boolean> {
  for (const { type, first_seen, last, isNewest, isEmpty } of evidence) {
    if (isNewest || isEmpty || last > moment) continue
    const next = await nextState(facts, name, type, first_seen)
    if (next === null || next.records === '[]') continue
    const [cut] = await facts.interruptions(name, type, next.first_seen + 1, 1)
    if (cut?.seen_again !== next.first_seen) return true
  }
  return false
}

/** The state after the one that began at a time; null if there are too many states. */
async function nextState(
  facts: FactsReader,
  name: DomainName,
  type: RecordType,
  first_seen: Instant,
): Promise<PastState | null> {
  for (let read = 0, before: Instant | null = null; read < MAX_STATES; read += STATES_PER_READ) {
    const { states, more }: History = (await facts.history(name, [type], before, STATES_PER_READ)).byType[type]
    const place = states.findIndex((state) => state.first_seen <= first_seen)
    if (place > 0) return states[place - 1]!
    const last = states.at(-1)
    if (place === 0 || last === undefined || !more) return null
    before = last.first_seen + 1 // the last one again, in case that the one before it is asked for
  }
  return null
}

/**
 * When a name was first seen on each of its addresses at a moment. An address is missing if the history up to then has
 * too many states.
 */
export async function readFirstSeen(
  facts: FactsReader,
  name: DomainName,
  addresses: readonly IpAddress[],
  moment: Instant,
): Promise<Map<IpAddress, Instant>> {
  const firstSeen = new Map<IpAddress, Instant>()
  for (const type of ['A', 'AAAA'] as const) {
    const wanted = addresses.filter((address) => address.includes(':') === (type === 'AAAA'))
    if (wanted.length === 0) continue
    let before = moment + 1
    for (let read = 0; ; read += STATES_PER_READ) {
      const { states, more } = (await facts.history(name, [type], before, STATES_PER_READ)).byType[type]
      for (const { first_seen, records } of states)
        for (const address of addressesIn(records)) if (wanted.includes(address)) firstSeen.set(address, first_seen)
      before = states.at(-1)?.first_seen ?? 0
      if (!more) break
      if (read + STATES_PER_READ < MAX_STATES) continue
      for (const address of wanted) firstSeen.delete(address)
      break
    }
  }
  return firstSeen
}

/** The addresses of the JSON of A or AAAA records. */
export function addressesIn(records: string): IpAddress[] {
  const parsed = JSON.parse(records) as { ipv4_address?: IpAddress; ipv6_address?: IpAddress }[]
  return parsed.map(({ ipv4_address, ipv6_address }) => (ipv4_address ?? ipv6_address)!)
}

/** Addresses from `first` to `last`, both included, at a moment or in a time. */
export type AddressQuestion = { first: IpAddress; last: IpAddress } & TimeQuestion

/** Reads a page of the names on addresses, in the order of address, name and time. */
export function readAddressPage(
  { facts, inverse }: { facts: FactsReader; inverse: InverseReader },
  question: AddressQuestion,
  after: Uint8Array | null,
  limit: number,
): Promise<SpanPage> {
  const { first, last } = question
  const source: SpanSource<InverseSpan> = {
    read: (...page) => inverse.spans({ by: 'addresses', first, last }, ...page),
    wasNewest: (span, moment) => wasNewest(facts, span, moment),
  }
  return readSpanPage(source, question, after, limit)
}

/**
 * Whether the newest observation of its type by a moment showed the address of a span that ended before, in that span,
 * and the name is not known to have been absent since.
 */
async function wasNewest(facts: FactsReader, span: InverseSpan, moment: Instant): Promise<boolean> {
  const { name, first, last } = span
  const data = span.data as Extract<InverseSpan['data'], { address: IpAddress }>
  const found = (await facts.history(name, [data.type], moment + 1, 1)).byType[data.type]
  const [state] = found.states
  if (state === undefined || last < state.first_seen || !addressesIn(state.records).includes(data.address)) return false
  if (isAbsentAt(found, state, moment)) return false
  if (state.last_confirmed === last) return true
  const [cut] = await facts.interruptions(name, data.type, moment + 1, 1)
  return cut === undefined || cut.seen_again <= first
}

function isAbsentAt({ absent_since }: History, { last_confirmed }: PastState, moment: Instant): boolean {
  return last_confirmed === null && absent_since !== null && absent_since <= moment
}
