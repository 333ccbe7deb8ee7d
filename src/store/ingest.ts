/**
 * Applies batches of observations: read the stored state, apply, save, and repeat for the names that the store
 * rejected.
 */

import {
  type ApplyOutcome,
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
 * What became of an observation. `ahead`: rejected, because its time is more than 5 minutes ahead of the store's clock.
 * `lost`: not written, because another crawler has leased its name.
 */
export type IngestOutcome = ApplyOutcome | 'ahead' | 'lost'

/** `leases`: those of the crawler that saves the batch. Names outside of them are lost. */
export type IngestOptions = { intervals?: ProbeIntervals; leases?: readonly Lease[] }

/** Maximum seconds by which an observation may be ahead of the store's clock: a wrong clock would freeze its name. */
export const MAX_AHEAD_SECONDS = 300

/** The part of a store that an ingest uses. */
type IngestStore = Pick<Store, 'observations' | 'now'>

/** One observation and its index in the batch. */
type IngestItem = { index: number; prepared: PreparedObservation }

/** Items by name, outcomes by index in the batch, and the options. */
type IngestBatch = { groups: Map<DomainName, IngestItem[]>; outcomes: IngestOutcome[]; options: IngestOptions }

/** Names per transaction: about 50 milliseconds of work, so that other writers are not blocked. */
const NAMES_PER_TRANSACTION = 2000

/** Concurrent transactions: if the store is another process, one is prepared while another is written. */
const CONCURRENT_TRANSACTIONS = 2

/**
 * Applies a batch in its order and resolves when it is written, with one outcome per observation. A larger batch costs
 * less per observation, because its names are processed in the order of the store.
 */
export function ingest(
  store: IngestStore,
  batch: readonly Observation[],
  options: IngestOptions = {},
): Promise<IngestOutcome[]> {
  return ingestPrepared(store, batch.map(prepareObservation), options)
}

/** Same as `ingest`, for observations that another thread has prepared. */
export async function ingestPrepared(
  store: IngestStore,
  batch: readonly PreparedObservation[],
  options: IngestOptions = {},
): Promise<IngestOutcome[]> {
  const maxTime = (await store.now()) + MAX_AHEAD_SECONDS
  const outcomes: IngestOutcome[] = batch.map(({ observed_at }) => (observed_at > maxTime ? 'ahead' : 'unchanged'))
  const items = batch.map((prepared, index) => ({ index, prepared }))
  const groups = groupInSlotOrder(items.filter(({ index }) => outcomes[index] !== 'ahead'))
  const names = [...groups.keys()]
  let from = 0
  const applyRest = async (): Promise<void> => {
    while (from < names.length) {
      let pending = names.slice(from, from + NAMES_PER_TRANSACTION)
      from += NAMES_PER_TRANSACTION
      while (pending.length > 0) pending = await applyNames(store, pending, { groups, outcomes, options })
    }
  }
  await settleAll(Array.from({ length: CONCURRENT_TRANSACTIONS }, applyRest))
  return outcomes
}

/** Waits for all tasks, even if one fails; then throws the first failure. */
async function settleAll(tasks: readonly Promise<void>[]): Promise<void> {
  for (const settled of await Promise.allSettled(tasks)) if (settled.status === 'rejected') throw settled.reason
}

/** Groups the items by name. Names are in slot order; the items of a name are in the order of the batch. */
function groupInSlotOrder(items: readonly IngestItem[]): Map<DomainName, IngestItem[]> {
  const groups = new Map<DomainName, IngestItem[]>()
  for (const item of items) {
    const name = item.prepared.name
    const group = groups.get(name)
    if (group) group.push(item)
    else groups.set(name, [item])
  }
  const namesWithSlot = [...groups.keys()].map((name) => ({ name, slot: slotOf(name) }))
  namesWithSlot.sort((a, b) => a.slot - b.slot || (a.name < b.name ? -1 : 1))
  return new Map(namesWithSlot.map(({ name }) => [name, groups.get(name)!]))
}

/**
 * Applies each name's items to its stored state and saves the changes. Returns the names that another writer has
 * changed meanwhile.
 */
async function applyNames(
  { observations }: IngestStore,
  names: DomainName[],
  { groups, outcomes, options }: IngestBatch,
): Promise<DomainName[]> {
  const drafts = await startDrafts(observations, names, groups, options.intervals)
  const changes: Change[] = []
  for (const [index, name] of names.entries()) {
    const draft = drafts[index]!
    for (const { index, prepared } of groups.get(name)!) outcomes[index] = applyObservation(draft, prepared)
    const change = changeOf(draft)
    if (change) changes.push(change)
  }
  if (changes.length === 0) return []
  const { rejected, lost } = await observations.save(changes, options.leases)
  for (const name of lost) for (const { index } of groups.get(name)!) outcomes[index] = 'lost'
  return rejected
}

/** One draft per name. Reads the facts only of names with a changed fingerprint. */
async function startDrafts(
  observations: Store['observations'],
  names: readonly DomainName[],
  groups: Map<DomainName, IngestItem[]>,
  intervals: ProbeIntervals | undefined,
): Promise<ObservationDraft[]> {
  const crawlStates = await observations.crawlStates(names)
  const changed = crawlStates.filter(
    (crawlState) =>
      crawlState.version > 0 && groups.get(crawlState.name)!.some(({ prepared }) => differs(crawlState, prepared)),
  )
  const currents = changed.length === 0 ? [] : await observations.currentFacts(changed.map(({ name }) => name))
  const currentByName = new Map(changed.map(({ name }, index) => [name, currents[index]!]))
  return crawlStates.map((crawlState) => startDraft(crawlState, currentByName.get(crawlState.name), intervals))
}
