/** Where observations go: into the store, or to the end of a file. */

import { resolve } from 'node:path'
import type { Rhythm } from '../../apply/due.ts'
import type { Settings } from '../../config.ts'
import type { Places } from '../../crawl/pace.ts'
import type { Observation } from '../../observe/observation.ts'
import { placesOf } from '../../schedule/admission.ts'
import { ingest, type Outcome } from '../../store/ingest.ts'
import { openStore } from '../../store/open.ts'
import type { Store } from '../../store/store.ts'
import { shown } from '../../store/url.ts'
import type { Name } from '../../words/name.ts'
import { rhythmOf } from '../rhythm.ts'

export type Destination = {
  /** What it is, for a crawl that goes on with the same one. */
  to: string
  /** Where a name was when it was last seen; null for one that was forgotten, which is not visited either. */
  placesOf(name: Name): Promise<Places | null>
  /** Resolves when the batch is written, with what became of each. */
  write(batch: readonly Observation[]): Promise<readonly (Outcome | 'written')[]>
  close(): Promise<void>
}

/** Throws StoreFault where the store cannot be opened. */
export async function openStoreDestination(settings: Settings): Promise<Destination> {
  const { store: url, secret, pool } = settings
  const rhythm = rhythmOf(settings)
  const store = await openStore(url, { access: 'write', ledger: 'own', secret, pool })
  return storeDestination(
    store,
    shown(url).replace(/(?<=^sqlite:).*/s, (path) => resolve(path)),
    rhythm,
  )
}

/** `close` closes the store. */
export function storeDestination(store: Store, to: string, rhythm?: Rhythm): Destination {
  return {
    to,
    placesOf: (name) => knownPlaces(store, name),
    write: (batch) => ingest(store, batch, rhythm && { rhythm }),
    close: () => store.close(),
  }
}

async function knownPlaces({ frontier }: Store, name: Name): Promise<Places | null> {
  const [visit] = await frontier.visits([name])
  if (visit!.forgotten) return null
  if (visit!.version === 0) return {}
  const [current] = await frontier.currents([name])
  return placesOf(current!)
}
