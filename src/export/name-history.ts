/** Reads everything that the store knows about names: clocks, current facts and all states of their records. */

import type { Interruption } from '../apply/change.ts'
import type { Clocks, CurrentFacts } from '../apply/crawl-state.ts'
import { CLOCK_INDEX } from '../apply/stored-numbers.ts'
import type { PastCertificate, Store, WebState } from '../store/port/store.ts'
import type { DomainName } from '../values/domain-name.ts'
import { type AnyRecord, RECORD_TYPES, type RecordType } from '../values/records/dns-record.ts'
import { decodeRecords } from '../values/records/stored-records.ts'
import type { Instant } from '../values/time.ts'
import type { RecordState } from './cof.ts'

/**
 * What is known about a name. The states and interruptions of a type are newest first; a type that was never seen has
 * none.
 */
export type NameHistory = {
  name: DomainName
  clocks: Clocks
  facts: CurrentFacts
  timelines: Record<RecordType, Timeline>
  /** The states of the website and of its certificate, newest first. */
  websites: readonly WebState[]
  certificates: readonly PastCertificate[]
}

type Timeline = { states: RecordState[]; interruptions: Interruption[] }

type HistoryStore = Pick<Store, 'observations' | 'facts'>

/** States, or interruptions, per page of a history. */
const ROWS_PER_READ = 500
/** Reads of names that are written at the same time. */
const MAX_READS = 5

/** `unread`: names that were written during each of MAX_READS reads. */
export type ReadHistories = { histories: NameHistory[]; unread: readonly DomainName[] }

/** Returns the histories in the order of the names, each from one moment. Leaves out names that were forgotten. */
export async function readNameHistories(store: HistoryStore, names: readonly DomainName[]): Promise<ReadHistories> {
  const found = new Map<DomainName, NameHistory>()
  let open: readonly DomainName[] = names
  for (let reads = 0; open.length > 0 && reads < MAX_READS; reads++) {
    const before = await store.observations.crawlStates(open)
    const facts = await store.observations.currentFacts(open)
    const known = before.flatMap((state, index) => (state.forgotten ? [] : [{ state, facts: facts[index]! }]))
    const read = await Promise.all(
      known.map(async ({ state: { name, clocks }, facts }) => ({
        ...{ name, clocks, facts },
        timelines: await readTimelines(store, name, clocks, facts),
        websites: facts.states.web ? await readAll(store.facts.webHistory, name) : [],
        certificates: facts.states.certificate ? await readAll(store.facts.certificateHistory, name) : [],
      })),
    )
    const after = await store.observations.crawlStates(known.map(({ state }) => state.name))
    const changed = new Set(known.filter(({ state }, index) => state.version !== after[index]!.version))
    for (const [index, history] of read.entries()) if (!changed.has(known[index]!)) found.set(history.name, history)
    open = [...changed].map(({ state }) => state.name)
  }
  return { histories: names.flatMap((name) => found.get(name) ?? []), unread: open }
}

/** All states of a history. */
async function readAll<State extends { first_seen: Instant }>(
  read: (name: DomainName, before: Instant | null, limit: number) => Promise<{ states: State[]; more: boolean }>,
  name: DomainName,
): Promise<State[]> {
  const found: State[] = []
  for (let more = true; more; ) {
    const page = await read(name, found.at(-1)?.first_seen ?? null, ROWS_PER_READ)
    found.push(...page.states)
    more = page.more
  }
  return found
}

async function readTimelines(
  { facts: reader }: HistoryStore,
  name: DomainName,
  clocks: Clocks,
  { states: newest }: CurrentFacts,
): Promise<NameHistory['timelines']> {
  const timelines = Object.fromEntries(
    RECORD_TYPES.map((type): [RecordType, Timeline] => [type, { states: [], interruptions: [] }]),
  ) as NameHistory['timelines']
  for (const type of RECORD_TYPES) {
    const current = newest[type]
    if (current === undefined) continue
    const { first_seen, count, records } = current
    const { states } = timelines[type]
    states.push({
      first_seen,
      last_seen: clocks[CLOCK_INDEX[type]]!,
      records: decodeRecords(type, records) as AnyRecord[],
    })
    for (let before = first_seen, more = count > 1; more; before = states.at(-1)!.first_seen) {
      const page = (await reader.history(name, [type], before, ROWS_PER_READ)).byType[type]
      for (const { first_seen, last_confirmed, records } of page.states)
        states.push({ first_seen, last_seen: last_confirmed!, records: JSON.parse(records) as AnyRecord[] })
      more = page.more
    }
    timelines[type].interruptions = await readInterruptions(reader, name, type)
  }
  return timelines
}

async function readInterruptions(
  reader: HistoryStore['facts'],
  name: DomainName,
  type: RecordType,
): Promise<Interruption[]> {
  const found: Interruption[] = []
  for (let more = true; more; ) {
    const page = await reader.interruptions(name, type, found.at(-1)?.seen_again ?? null, ROWS_PER_READ)
    found.push(...page)
    more = page.length === ROWS_PER_READ
  }
  return found
}
