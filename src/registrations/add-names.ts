/** Adds names to the store: inserts unknown names and, if requested, makes known names due. */

import type { CrawlState } from '../apply/crawl-state.ts'
import { freshNameChange } from '../apply/fresh-name.ts'
import { saveInTurns } from '../store/ingest.ts'
import type { Store } from '../store/port/store.ts'
import { type DomainName, slotOf } from '../values/domain-name.ts'
import { type Day, type Instant, numberOfDay } from '../values/time.ts'

/** Where names are added. */
export type AddNamesContext = {
  store: Pick<Store, 'observations' | 'now'>
  signal: AbortSignal
  /** Called after each batch with its number of names and how many of them were new. */
  onAdded(names: number, newNames: number): void
  /** Called after each batch to keep the number of runs of the inverse index within bounds. Without it, they grow. */
  keepUp?(): Promise<void>
}

/**
 * `insertsUnknown`: unknown names are inserted and due. `makesDue`: known names become due at once. `keepsOrder`: the
 * first probes of new names follow the order of the names, as if they were places in one list. `registered`: the day on
 * which the names were registered.
 */
type AddNamesMode = { insertsUnknown: boolean; makesDue: boolean; keepsOrder?: boolean; registered?: Day }

/** A name and its place in its list, 0 for none. */
type PlacedName = { name: DomainName; slot: number; place: number }

/** Names per transaction, as in an import. */
const ADD_NAMES_BATCH = 2_000

/** Adds the names batch by batch. A batch has each name once. If it runs again, it changes only the due times. */
export async function addNames(
  batches: AsyncIterable<readonly DomainName[]> | Iterable<readonly DomainName[]>,
  { insertsUnknown, makesDue, keepsOrder, registered: day }: AddNamesMode,
  context: AddNamesContext,
): Promise<void> {
  const registered = day === undefined ? null : numberOfDay(day)
  let read = 0
  for await (const names of batches) {
    context.signal.throwIfAborted()
    const placed = names.map((name, index) => ({
      name,
      slot: slotOf(name),
      place: keepsOrder ? read + index + 1 : 0,
    }))
    read += names.length
    const newNames = insertsUnknown ? await insertUnknown(context, placed, registered) : 0
    if (makesDue)
      for (let at = 0; at < names.length; at += ADD_NAMES_BATCH)
        await makeDue(context, names.slice(at, at + ADD_NAMES_BATCH), registered)
    context.onAdded(names.length, newNames)
    await context.keepUp?.()
  }
}

/** Inserts in the order of the store, which costs least. Returns the number of new names. */
async function insertUnknown(
  { store }: AddNamesContext,
  placed: PlacedName[],
  registered: number | null,
): Promise<number> {
  const sorted = placed.toSorted((a, b) => a.slot - b.slot || (a.name < b.name ? -1 : 1))
  let [at, newNames] = [0, 0]
  const insertRest = async (): Promise<void> => {
    while (at < sorted.length) {
      const batch = sorted.slice(at, at + ADD_NAMES_BATCH)
      at += batch.length
      const inserted = await insertBatch(store, batch, registered)
      newNames += inserted
    }
  }
  await saveInTurns(store, insertRest)
  return newNames
}

/** A name that another writer added in the meantime is known, so its rejection is no failure. */
async function insertBatch(
  { observations }: AddNamesContext['store'],
  batch: readonly PlacedName[],
  registered: number | null,
): Promise<number> {
  const states = await observations.crawlStates(batch.map(({ name }) => name))
  const changes = states.flatMap((state, index) =>
    state.version === 0 && !state.forgotten ? [freshNameChange(state, batch[index]!.place, registered)] : [],
  )
  if (changes.length === 0) return 0
  const { rejected } = await observations.save(changes)
  return changes.length - rejected.length
}

/**
 * Makes names due, and notes the day of their registration if it is newer than the known one. Reads a name again if
 * another writer changed it, because it may just have been probed.
 */
async function makeDue(
  { store }: AddNamesContext,
  names: readonly DomainName[],
  registered: number | null,
): Promise<void> {
  for (let todo = names; todo.length > 0; ) {
    const now = await store.now()
    const states = await store.observations.crawlStates(todo)
    const changed = states
      .filter(({ version, forgotten }) => version > 0 && !forgotten)
      .map((state) => ({ before: state, state: dueState(state, now, registered) }))
      .filter(({ before, state }) => state.due !== before.due || state.registered !== before.registered)
    const changes = changed.map(({ state }) => ({ state, facts: null }))
    todo = changes.length === 0 ? [] : (await store.observations.save(changes)).rejected
  }
}

/** The state of a name that is due by `now`. A registration of an earlier day than the known one changes nothing. */
function dueState(state: CrawlState, now: Instant, registered: number | null): CrawlState {
  const newest = registered === null ? state.registered : Math.max(registered, state.registered ?? 0)
  return { ...state, due: Math.min(state.due, now), registered: newest }
}
