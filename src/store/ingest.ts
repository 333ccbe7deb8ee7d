/** Takes batches of observations through known -> apply -> save, until none is turned away. */

import { type Outcome as Applied, apply, begin, changeOf, type Draft, differs } from '../apply/apply.ts'
import type { Change } from '../apply/change.ts'
import { type Prepared, prepare } from '../apply/prepare.ts'
import type { Observation } from '../observe/observation.ts'
import { type Name, slotOf } from '../words/name.ts'
import type { Store } from './store.ts'

/** What became of an observation. `ahead`: refused, because its time is more than 5 minutes ahead of the store's clock. */
export type Outcome = Applied | 'ahead'

/** How far ahead of the store's clock an observation may be, in seconds: a wrong clock would freeze its name. */
const AHEAD_SECONDS = 300

/** One observation on its way: its place in the batch, and what was made of it. */
type Item = { place: number; prepared: Prepared }

/** Applies a batch in its order; resolves when it is written, with one outcome an observation. */
export async function ingest(
  store: Pick<Store, 'frontier' | 'now'>,
  batch: readonly Observation[],
): Promise<Outcome[]> {
  const latest = (await store.now()) + AHEAD_SECONDS
  const outcomes: Outcome[] = batch.map(({ observed_at }) => (observed_at > latest ? 'ahead' : 'unchanged'))
  const items = batch.map((observation, place) => ({ place, prepared: prepare(observation) }))
  let groups = inOrder(items.filter(({ place }) => outcomes[place] !== 'ahead'))
  while (groups.size > 0) {
    const turnedAway = await applyGroups(store, groups, outcomes)
    groups = new Map(turnedAway.map((name) => [name, groups.get(name)!]))
  }
  return outcomes
}

/** The items by name, the names in the order of the store's slots, each name's items in the order of the batch. */
function inOrder(items: readonly Item[]): Map<Name, Item[]> {
  const groups = new Map<Name, Item[]>()
  for (const item of items) {
    const name = item.prepared.observation.domain
    const group = groups.get(name)
    if (group) group.push(item)
    else groups.set(name, [item])
  }
  const keyed = [...groups.keys()].map((name) => ({ name, slot: slotOf(name) }))
  keyed.sort((a, b) => a.slot - b.slot || (a.name < b.name ? -1 : 1))
  return new Map(keyed.map(({ name }) => [name, groups.get(name)!]))
}

/** Applies every group to what is known now and saves it; the names that another writer was faster with come back. */
async function applyGroups(
  { frontier }: Pick<Store, 'frontier'>,
  groups: Map<Name, Item[]>,
  outcomes: Outcome[],
): Promise<Name[]> {
  const names = [...groups.keys()]
  const drafts = await draftsOf(frontier, names, groups)
  const changes: Change[] = []
  for (const [index, name] of names.entries()) {
    const draft = drafts[index]!
    for (const { place, prepared } of groups.get(name)!) outcomes[place] = apply(draft, prepared)
    const change = changeOf(draft)
    if (change) changes.push(change)
  }
  return changes.length === 0 ? [] : frontier.save(changes)
}

/** A draft a name; facts are read only of names for which a fingerprint differs. */
async function draftsOf(
  frontier: Store['frontier'],
  names: readonly Name[],
  groups: Map<Name, Item[]>,
): Promise<Draft[]> {
  const visits = await frontier.visits(names)
  const changed = visits.filter(
    (visit) => visit.version > 0 && groups.get(visit.name)!.some(({ prepared }) => differs(visit, prepared)),
  )
  const currents = await frontier.currents(changed.map(({ name }) => name))
  const known = new Map(changed.map(({ name }, index) => [name, currents[index]!]))
  return visits.map((visit) => begin(visit, known.get(visit.name)))
}
