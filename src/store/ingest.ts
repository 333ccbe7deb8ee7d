/**
 * Applies batches of observations: read the stored state, apply, save, and repeat for the names that the store
 * rejected.
 */

import { type ApplyOutcome, applyObservation, differs } from '../apply/apply.ts'
import type { Change } from '../apply/change.ts'
import type { CrawlState } from '../apply/crawl-state.ts'
import { changeOf, type ObservationDraft, startDraft } from '../apply/draft.ts'
import { freshNameChange } from '../apply/fresh-name.ts'
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

/**
 * `leases`: those of the crawler that saves the batch. Names outside of them are lost. `revealed`: for each observation,
 * the names that its probe revealed. The store adds unknown ones in the same transaction; they are due at once.
 */
export type IngestOptions = {
  intervals?: ProbeIntervals
  leases?: readonly Lease[]
  revealed?: readonly (readonly DomainName[])[]
}

/** Maximum seconds by which an observation may be ahead of the store's clock: a wrong clock would freeze its name. */
export const MAX_AHEAD_SECONDS = 300

/** The part of a store that an ingest uses. */
type IngestStore = Pick<Store, 'observations' | 'now'>

/** A name, and the places of its observations in `IngestBatch.order`: from `from` up to `to` (exclusive). */
type NameGroup = { name: DomainName; from: number; to: number }

/** `order`: indexes of `rows`, by slot and name. `outcomes`: by index of `rows`. */
type IngestBatch = {
  rows: readonly PreparedObservation[]
  order: readonly number[]
  outcomes: IngestOutcome[]
  options: IngestOptions
}

/** Names of a transaction, so that other writers do not wait for long. */
const NAMES_PER_TRANSACTION = 2000
/** Characters of the observations of a transaction of several names. 2,000 names with 2 KB of text have about as many. */
const CHARACTERS_PER_TRANSACTION = 4 * 2 ** 20

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
  const order = slotOrder(batch, (index) => outcomes[index] !== 'ahead')
  const groups = groupsByName(batch, order)
  let from = 0
  const applyRest = async (): Promise<void> => {
    while (from < groups.length) {
      const end = transactionEnd(groups, from, batch, order)
      let pending = groups.slice(from, end)
      from = end
      while (pending.length > 0) pending = await applyGroups(store, pending, { rows: batch, order, outcomes, options })
    }
  }
  await saveInTurns(store, applyRest)
  return outcomes
}

/**
 * Starts `saveRest` as often as the store has use for, so that the calls share what is left to save. Waits for all, even
 * if one fails; then throws the first failure.
 */
export async function saveInTurns(
  { observations }: Pick<Store, 'observations'>,
  saveRest: () => Promise<void>,
): Promise<void> {
  const calls = Array.from({ length: observations.concurrentSaves }, saveRest)
  for (const settled of await Promise.allSettled(calls)) if (settled.status === 'rejected') throw settled.reason
}

/** Returns the indexes of the chosen rows, by slot, then by name, then in the order of the batch. */
function slotOrder(rows: readonly PreparedObservation[], isChosen: (index: number) => boolean): number[] {
  const slots = Uint16Array.from(rows, ({ name }) => slotOf(name))
  const order = [...rows.keys()].filter(isChosen)
  return order.sort((a, b) => slots[a]! - slots[b]! || compareNames(rows[a]!, rows[b]!) || a - b)
}

function compareNames({ name: a }: PreparedObservation, { name: b }: PreparedObservation): number {
  return a < b ? -1 : a > b ? 1 : 0
}

function groupsByName(rows: readonly PreparedObservation[], order: readonly number[]): NameGroup[] {
  const groups: NameGroup[] = []
  for (const [place, index] of order.entries()) {
    const last = groups.at(-1)
    const { name } = rows[index]!
    if (last?.name === name) last.to++
    else groups.push({ name, from: place, to: place + 1 })
  }
  return groups
}

/** The end of the transaction that begins with the group at `from`: at least one group. */
function transactionEnd(
  groups: readonly NameGroup[],
  from: number,
  rows: readonly PreparedObservation[],
  order: readonly number[],
): number {
  const last = Math.min(groups.length, from + NAMES_PER_TRANSACTION)
  let characters = 0
  for (let end = from; end < last; end++) {
    const group = groups[end]!
    for (let place = group.from; place < group.to; place++) characters += charactersOf(rows[order[place]!]!)
    if (characters > CHARACTERS_PER_TRANSACTION) return Math.max(end, from + 1)
  }
  return last
}

function charactersOf({ dns, web }: PreparedObservation): number {
  return (dns?.length ?? 0) + (web?.length ?? 0)
}

/**
 * Applies each name's observations to its stored state and saves the changes. Returns the names that another writer has
 * changed meanwhile.
 */
async function applyGroups(
  { observations }: IngestStore,
  groups: NameGroup[],
  batch: IngestBatch,
): Promise<NameGroup[]> {
  const { order, outcomes, options } = batch
  const start = await draftStarter(observations, groups, batch)
  const revealed = await revealedChanges(observations, groups, batch)
  const changes = { [Symbol.iterator]: () => changesOf(groups, batch, start, revealed) }
  const { rejected, lost } = await observations.save(changes, options.leases)
  for (const { from, to } of groupsOf(lost, groups)) for (const index of order.slice(from, to)) outcomes[index] = 'lost'
  return groupsOf(rejected, groups)
}

/**
 * Applies the observations of each name when its change is read, so that its objects are garbage soon after. Those of a
 * whole transaction would live long enough for the garbage collector to copy them.
 */
function* changesOf(
  groups: readonly NameGroup[],
  { rows, order, outcomes }: IngestBatch,
  start: (index: number) => ObservationDraft,
  revealed: readonly Change[],
): Generator<Change, void> {
  for (const [index, { from, to }] of groups.entries()) {
    const draft = start(index)
    for (let place = from; place < to; place++) {
      const row = order[place]!
      outcomes[row] = applyObservation(draft, rows[row]!)
    }
    const change = changeOf(draft)
    if (change) yield change
  }
  yield* revealed
}

/** Returns the changes that add revealed names. If another writer adds one first, its change is rejected. */
async function revealedChanges(
  observations: Store['observations'],
  groups: readonly NameGroup[],
  { order, options: { revealed = [] } }: IngestBatch,
): Promise<Change[]> {
  if (revealed.length === 0) return []
  const names = new Set(groups.flatMap(({ from, to }) => order.slice(from, to).flatMap((index) => revealed[index]!)))
  for (const { name } of groups) names.delete(name)
  const states = names.size === 0 ? [] : await observations.crawlStates([...names])
  return states.filter(({ version, forgotten }) => version === 0 && !forgotten).map((state) => freshNameChange(state))
}

function groupsOf(names: readonly DomainName[], groups: readonly NameGroup[]): NameGroup[] {
  if (names.length === 0) return []
  const chosen = new Set(names)
  return groups.filter(({ name }) => chosen.has(name))
}

/**
 * Reads the states of the names, and the facts only of names with a changed fingerprint. Returns a function that starts
 * the draft of a name by its index.
 */
async function draftStarter(
  observations: Store['observations'],
  groups: readonly NameGroup[],
  { rows, order, options }: IngestBatch,
): Promise<(index: number) => ObservationDraft> {
  const crawlStates = await observations.crawlStates(groups.map(({ name }) => name))
  const isChanged = (state: CrawlState, { from, to }: NameGroup): boolean => {
    for (let place = from; place < to; place++) if (differs(state, rows[order[place]!]!)) return true
    return false
  }
  const changed = crawlStates.filter((state, index) => state.version > 0 && isChanged(state, groups[index]!))
  const currents = changed.length === 0 ? [] : await observations.currentFacts(changed.map(({ name }) => name))
  const currentByName = new Map(changed.map(({ name }, index) => [name, currents[index]!]))
  return (index) => {
    const state = crawlStates[index]!
    return startDraft(state, currentByName.get(state.name), options.intervals)
  }
}
