/** Takes batches of observations through known -> apply -> save, until none is turned away. */

import {
  type ApplyOutcome as Applied,
  applyObservation,
  changeOf,
  differs,
  type ObservationDraft,
  startDraft,
} from '../apply/apply.ts'
import type { Change } from '../apply/change.ts'
import type { ProbeIntervals } from '../apply/next-probe.ts'
import { type PreparedObservation, prepareObservation } from '../apply/prepare.ts'
import type { Observation } from '../observe/observation.ts'
import { type DomainName, slotOf } from '../values/domain-name.ts'
import type { Lease } from './port/schedule.ts'
import type { Store } from './port/store.ts'

/**
 * What became of an observation. `ahead`: refused, because its time is more than 5 minutes ahead of the store's clock.
 * `lost`: not written, because its name is another crawler's now.
 */
export type IngestOutcome = Applied | 'ahead' | 'lost'

/** `leases`: of the crawler that brings the batch; names outside of them are lost. */
export type IngestOptions = { intervals?: ProbeIntervals; leases?: readonly Lease[] }

/** How far ahead of the store's clock an observation may be, in seconds: a wrong clock would freeze its name. */
export const MAX_AHEAD_SECONDS = 300

/** What an ingest needs of a store. */
type IngestStore = Pick<Store, 'observations' | 'now'>

/** One observation on its way: its place in the batch, and what was made of it. */
type IngestItem = { index: number; prepared: PreparedObservation }

/** What a batch is applied with: its items by name, the outcomes by place. */
type IngestBatch = { groups: Map<DomainName, IngestItem[]>; outcomes: IngestOutcome[]; options: IngestOptions }

/** Names written in one transaction: some 50 milliseconds of work, so that another writer has its turn. */
const NAMES_PER_TRANSACTION = 2000

/** Transactions under way: where the store is another process, one is made ready while another is written. */
const CONCURRENT_TRANSACTIONS = 2

/**
 * Applies a batch in its order; resolves when it is written, with one outcome an observation. A large batch costs less an
 * observation, since its names are visited in the order of the store.
 */
export function ingest(
  store: IngestStore,
  batch: readonly Observation[],
  options: IngestOptions = {},
): Promise<IngestOutcome[]> {
  return ingestPrepared(store, batch.map(prepareObservation), options)
}

/** The same for observations that were prepared elsewhere, in a thread. */
export async function ingestPrepared(
  store: IngestStore,
  batch: readonly PreparedObservation[],
  options: IngestOptions = {},
): Promise<IngestOutcome[]> {
  const latest = (await store.now()) + MAX_AHEAD_SECONDS
  const outcomes: IngestOutcome[] = batch.map(({ observed_at }) => (observed_at > latest ? 'ahead' : 'unchanged'))
  const items = batch.map((prepared, place) => ({ index: place, prepared }))
  const groups = groupInSlotOrder(items.filter(({ index: place }) => outcomes[place] !== 'ahead'))
  const names = [...groups.keys()]
  let from = 0
  const applyRest = async (): Promise<void> => {
    while (from < names.length) {
      let todo = names.slice(from, from + NAMES_PER_TRANSACTION)
      from += NAMES_PER_TRANSACTION
      while (todo.length > 0) todo = await applyNames(store, todo, { groups, outcomes, options })
    }
  }
  await settleAll(Array.from({ length: CONCURRENT_TRANSACTIONS }, applyRest))
  return outcomes
}

/** Waits for all of them, also where one fails. */
async function settleAll(works: readonly Promise<void>[]): Promise<void> {
  for (const settled of await Promise.allSettled(works)) if (settled.status === 'rejected') throw settled.reason
}

/** The items by name, the names in the order of the store's slots, each name's items in the order of the batch. */
function groupInSlotOrder(items: readonly IngestItem[]): Map<DomainName, IngestItem[]> {
  const groups = new Map<DomainName, IngestItem[]>()
  for (const item of items) {
    const name = item.prepared.name
    const group = groups.get(name)
    if (group) group.push(item)
    else groups.set(name, [item])
  }
  const keyed = [...groups.keys()].map((name) => ({ name, slot: slotOf(name) }))
  keyed.sort((a, b) => a.slot - b.slot || (a.name < b.name ? -1 : 1))
  return new Map(keyed.map(({ name }) => [name, groups.get(name)!]))
}

/** Applies each name's items to what is known now and saves it; the names that another writer was faster with come back. */
async function applyNames(
  { observations: frontier }: IngestStore,
  names: DomainName[],
  { groups, outcomes, options }: IngestBatch,
): Promise<DomainName[]> {
  const drafts = await startDrafts(frontier, names, groups, options.intervals)
  const changes: Change[] = []
  for (const [index, name] of names.entries()) {
    const draft = drafts[index]!
    for (const { index: place, prepared } of groups.get(name)!) outcomes[place] = applyObservation(draft, prepared)
    const change = changeOf(draft)
    if (change) changes.push(change)
  }
  if (changes.length === 0) return []
  const { rejected: again, lost } = await frontier.save(changes, options.leases)
  for (const name of lost) for (const { index: place } of groups.get(name)!) outcomes[place] = 'lost'
  return again
}

/** A draft a name; facts are read only of names for which a fingerprint differs. */
async function startDrafts(
  frontier: Store['observations'],
  names: readonly DomainName[],
  groups: Map<DomainName, IngestItem[]>,
  rhythm: ProbeIntervals | undefined,
): Promise<ObservationDraft[]> {
  const visits = await frontier.crawlStates(names)
  const changed = visits.filter(
    (visit) => visit.version > 0 && groups.get(visit.name)!.some(({ prepared }) => differs(visit, prepared)),
  )
  const currents = changed.length === 0 ? [] : await frontier.currentFacts(changed.map(({ name }) => name))
  const known = new Map(changed.map(({ name }, index) => [name, currents[index]!]))
  return visits.map((visit) => startDraft(visit, known.get(visit.name), rhythm))
}
