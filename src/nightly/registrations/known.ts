/** Brings names into the store: those that are not known become known, and known ones due where that is wanted. */

import { postponed } from '../../apply/apply.ts'
import { ingest } from '../../store/ingest.ts'
import type { Store } from '../../store/store.ts'
import type { Name } from '../../words/name.ts'

/** What names are brought into. */
export type Knowing = {
  store: Pick<Store, 'frontier' | 'now'>
  signal: AbortSignal
  /** Told of each batch that is done, with how many of its names were not known before. */
  onKnown(names: number, fresh: number): void
}

/** `isNew`: unknown ones become known, and a name that was never visited is due. `isDue`: known ones become due at once. */
export type Wanted = { isNew: boolean; isDue: boolean }

/** Names of one transaction, as of an ingest. */
const AT_ONCE = 2_000

/** Does so batch by batch; done again it changes nothing but the time at which names are due. */
export async function bring(
  batches: AsyncIterable<readonly Name[]>,
  { isNew, isDue }: Wanted,
  knowing: Knowing,
): Promise<void> {
  for await (const names of batches) {
    knowing.signal.throwIfAborted()
    const fresh = isNew ? await makeKnown(knowing, names) : 0
    if (isDue) for (let at = 0; at < names.length; at += AT_ONCE) await hasten(knowing, names.slice(at, at + AT_ONCE))
    knowing.onKnown(names.length, fresh)
  }
}

async function makeKnown({ store }: Knowing, names: readonly Name[]): Promise<number> {
  const observed_at = await store.now()
  const seen = names.map((domain) => ({ domain, observed_at, dns: null, web: null }))
  return (await ingest(store, seen)).filter((outcome) => outcome === 'applied').length
}

/** A name that another writer was faster with is looked at again: it may have been visited just now. */
async function hasten({ store }: Knowing, names: readonly Name[]): Promise<void> {
  for (let todo = names; todo.length > 0; ) {
    const now = await store.now()
    const visits = await store.frontier.visits(todo)
    const late = visits.filter(({ version, forgotten, due }) => version > 0 && !forgotten && due > now)
    todo = late.length === 0 ? [] : (await store.frontier.save(late.map((visit) => postponed(visit, now)))).again
  }
}
