/** Adds names to the store: inserts unknown names and, if requested, makes known names due. */

import { postponedChange } from '../apply/apply.ts'
import { ingest } from '../store/ingest.ts'
import type { Store } from '../store/port/store.ts'
import type { DomainName } from '../values/domain-name.ts'

/** Where names are added. */
export type AddNamesContext = {
  store: Pick<Store, 'observations' | 'now'>
  signal: AbortSignal
  /** Called after each batch with its number of names and how many of them were new. */
  onAdded(names: number, newNames: number): void
}

/** `insertsUnknown`: unknown names are inserted and due. `makesDue`: known names become due at once. */
export type AddNamesMode = { insertsUnknown: boolean; makesDue: boolean }

/** Names per transaction, as in an import. */
const ADD_NAMES_BATCH = 2_000

/** Adds the names batch by batch. If it runs again, it changes only the due times. */
export async function addNames(
  batches: AsyncIterable<readonly DomainName[]>,
  { insertsUnknown, makesDue }: AddNamesMode,
  context: AddNamesContext,
): Promise<void> {
  for await (const names of batches) {
    context.signal.throwIfAborted()
    const newNames = insertsUnknown ? await insertUnknown(context, names) : 0
    if (makesDue)
      for (let at = 0; at < names.length; at += ADD_NAMES_BATCH)
        await makeDue(context, names.slice(at, at + ADD_NAMES_BATCH))
    context.onAdded(names.length, newNames)
  }
}

async function insertUnknown({ store }: AddNamesContext, names: readonly DomainName[]): Promise<number> {
  const observed_at = await store.now()
  const observations = names.map((domain) => ({ domain, observed_at, dns: null, web: null }))
  return (await ingest(store, observations)).filter((outcome) => outcome === 'applied').length
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
