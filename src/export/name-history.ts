/** Reads everything that the store knows about names: clocks, current facts and all states of their records. */

import type { Clocks, CurrentFacts } from '../apply/crawl-state.ts'
import type { Store } from '../store/port/store.ts'
import type { DomainName } from '../values/domain-name.ts'
import { type AnyRecord, RECORD_TYPES, type RecordType } from '../values/records/dns-record.ts'
import { decodeRecords } from '../values/records/stored-records.ts'
import type { RecordState } from './cof.ts'

/** What is known about a name. The states of a type are newest first; a type that was never seen has none. */
export type NameHistory = {
  name: DomainName
  clocks: Clocks
  facts: CurrentFacts
  states: Record<RecordType, RecordState[]>
}

type HistoryStore = Pick<Store, 'observations' | 'facts'>

/** States per page of a history. */
const STATES_PER_READ = 500
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
      known.map(async ({ state: { name, clocks }, facts }) => {
        return { name, clocks, facts, states: await readStates(store, name, facts) }
      }),
    )
    const after = await store.observations.crawlStates(known.map(({ state }) => state.name))
    const changed = new Set(known.filter(({ state }, index) => state.version !== after[index]!.version))
    for (const [index, history] of read.entries()) if (!changed.has(known[index]!)) found.set(history.name, history)
    open = [...changed].map(({ state }) => state.name)
  }
  return { histories: names.flatMap((name) => found.get(name) ?? []), unread: open }
}

async function readStates(
  { facts: reader }: HistoryStore,
  name: DomainName,
  { states: newest }: CurrentFacts,
): Promise<NameHistory['states']> {
  const states = Object.fromEntries(RECORD_TYPES.map((type) => [type, []])) as unknown as NameHistory['states']
  for (const type of RECORD_TYPES) {
    const current = newest[type]
    if (current === undefined) continue
    const { first_seen, count, records } = current
    states[type].push({ first_seen, records: decodeRecords(type, records) as AnyRecord[] })
    for (let before = first_seen, more = count > 1; more; before = states[type].at(-1)!.first_seen) {
      const page = (await reader.history(name, [type], before, STATES_PER_READ))[type]
      for (const state of page.states)
        states[type].push({ ...state, records: JSON.parse(state.records) as AnyRecord[] })
      more = page.more
    }
  }
  return states
}
