/** Brings names into the store: those that are not known become known, and known ones due where that is wanted. */

import { postponedChange } from '../apply/apply.ts'
import { ingest } from '../store/ingest.ts'
import type { Store } from '../store/port/store.ts'
import type { DomainName } from '../values/domain-name.ts'

/** What names are brought into. */
export type AddNamesContext = {
  store: Pick<Store, 'observations' | 'now'>
  signal: AbortSignal
  /** Told of each batch that is done, with how many of its names were not known before. */
  onAdded(names: number, newNames: number): void
}

/**
 * `isNew`: unknown ones become known, and a name that was never visited is due. `isDue`: known ones become due at once.
 */
export type AddNamesMode = { insertsUnknown: boolean; makesDue: boolean }

/** Names of one transaction, as of an ingest. */
const ADD_NAMES_BATCH = 2_000

/** Does so batch by batch; done again it changes nothing but the time at which names are due. */
export async function addNames(
  batches: AsyncIterable<readonly DomainName[]>,
  { insertsUnknown: isNew, makesDue: isDue }: AddNamesMode,
  context: AddNamesContext,
): Promise<void> {
  for await (const names of batches) {
    context.signal.throwIfAborted()
    const fresh = isNew ? await insertUnknown(context, names) : 0
    if (isDue)
      for (let at = 0; at < names.length; at += ADD_NAMES_BATCH)
        await makeDue(context, names.slice(at, at + ADD_NAMES_BATCH))
    context.onAdded(names.length, fresh)
  }
}

async function insertUnknown({ store }: AddNamesContext, names: readonly DomainName[]): Promise<number> {
  const observed_at = await store.now()
  const seen = names.map((domain) => ({ domain, observed_at, dns: null, web: null }))
  return (await ingest(store, seen)).filter((outcome) => outcome === 'applied').length
}

/** A name that another writer was faster with is looked at again: it may have been visited just now. */
async function makeDue({ store }: AddNamesContext, names: readonly DomainName[]): Promise<void> {
  for (let todo = names; todo.length > 0; ) {
    const now = await store.now()
    const visits = await store.observations.crawlStates(todo)
    const late = visits.filter(({ version, forgotten, due }) => version > 0 && !forgotten && due > now)
    todo =
      late.length === 0
        ? []
        : (await store.observations.save(late.map((visit) => postponedChange(visit, now)))).rejected
  }
}
