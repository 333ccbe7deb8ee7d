/** Adds names to the store: inserts unknown names and, if requested, makes known names due. */

import { postponedChange } from '../apply/apply.ts'
import { freshNameChange } from '../apply/fresh-name.ts'
import type { Store } from '../store/port/store.ts'
import { type DomainName, slotOf } from '../values/domain-name.ts'

/** Where names are added. */
export type AddNamesContext = {
  store: Pick<Store, 'observations' | 'now'>
  signal: AbortSignal
  /** Called after each batch with its number of names and how many of them were new. */
  onAdded(names: number, newNames: number): void
}

/**
 * `insertsUnknown`: unknown names are inserted and due. `makesDue`: known names become due at once. `keepsOrder`: the
 * first probes of new names follow the order of the names, as if they were places in one list.
 */
type AddNamesMode = { insertsUnknown: boolean; makesDue: boolean; keepsOrder?: boolean }

/** A name and its place in its list, 0 for none. */
type PlacedName = { name: DomainName; slot: number; place: number }

/** Names per transaction, as in an import. */
const ADD_NAMES_BATCH = 2_000
/** Concurrent transactions: if the store is another process, one is prepared while another is written. */
const CONCURRENT_TRANSACTIONS = 2

/** Adds the names batch by batch. A batch has each name once. If it runs again, it changes only the due times. */
export async function addNames(
  batches: AsyncIterable<readonly DomainName[]>,
  { insertsUnknown, makesDue, keepsOrder }: AddNamesMode,
  context: AddNamesContext,
): Promise<void> {
  let read = 0
  for await (const names of batches) {
    context.signal.throwIfAborted()
    const placed = names.map((name, index) => ({
      name,
      slot: slotOf(name),
      place: keepsOrder ? read + index + 1 : 0,
    }))
    read += names.length
    const newNames = insertsUnknown ? await insertUnknown(context, placed) : 0
    if (makesDue)
      for (let at = 0; at < names.length; at += ADD_NAMES_BATCH)
        await makeDue(context, names.slice(at, at + ADD_NAMES_BATCH))
    context.onAdded(names.length, newNames)
  }
}

/** Inserts in the order of the store, which costs least. Returns the number of new names. */
async function insertUnknown({ store }: AddNamesContext, placed: PlacedName[]): Promise<number> {
  const sorted = placed.toSorted((a, b) => a.slot - b.slot || (a.name < b.name ? -1 : 1))
  let [at, newNames] = [0, 0]
  const insertRest = async (): Promise<void> => {
    while (at < sorted.length) {
      const batch = sorted.slice(at, at + ADD_NAMES_BATCH)
      at += batch.length
      const inserted = await insertBatch(store, batch)
      newNames += inserted
    }
  }
  const settled = await Promise.allSettled(Array.from({ length: CONCURRENT_TRANSACTIONS }, insertRest))
  for (const each of settled) if (each.status === 'rejected') throw each.reason
  return newNames
}

/** A name that another writer added in the meantime is known, so its rejection is no failure. */
async function insertBatch({ observations }: AddNamesContext['store'], batch: readonly PlacedName[]): Promise<number> {
  const states = await observations.crawlStates(batch.map(({ name }) => name))
  const changes = states.flatMap((state, index) =>
    state.version === 0 && !state.forgotten ? [freshNameChange(state, batch[index]!.place)] : [],
  )
  if (changes.length === 0) return 0
  const { rejected } = await observations.save(changes)
  return changes.length - rejected.length
}

/** Reads a name again if another writer changed it, because it may just have been probed. */
async function makeDue({ store }: AddNamesContext, names: readonly DomainName[]): Promise<void> {
  for (let todo = names; todo.length > 0; ) {
    const now = await store.now()
    const states = await store.observations.crawlStates(todo)
    const late = states.filter(({ version, forgotten, due }) => version > 0 && !forgotten && due > now)
    todo =
      late.length === 0
        ? []
        : (await store.observations.save(late.map((state) => postponedChange(state, now)))).rejected
  }
}
