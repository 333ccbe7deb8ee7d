/** Where observations go: into the store, or to the end of a file. */

import { resolve } from 'node:path'
import { RHYTHM, type Rhythm } from '../../apply/due.ts'
import type { Settings } from '../../config.ts'
import type { Places } from '../../crawl/pace.ts'
import type { Observation } from '../../observe/observation.ts'
import { placesOf } from '../../schedule/admission.ts'
import { type Past, pastOf } from '../../schedule/past.ts'
import type { SelfCheck } from '../../schedule/self-check.ts'
import { DiskRoom, pathsOf } from '../../store/disk-room.ts'
import { ingest, type Outcome } from '../../store/ingest.ts'
import { openStore } from '../../store/open.ts'
import type { Outcomes } from '../../store/schedule.ts'
import type { Store } from '../../store/store.ts'
import { shown } from '../../store/url.ts'
import type { Name } from '../../words/name.ts'
import { CommandFault } from '../fault.ts'
import { rhythmOf } from '../rhythm.ts'
import { sayPause } from '../room.ts'

/** `past`: what the outcome of its visit is judged by. */
export type Known = { places: Places; past: Past }

/** A name of which nothing is known. */
export const UNKNOWN: Known = { places: {}, past: 'new' }

export type Destination = {
  /** Whether it is a file, in which half a batch may stay. */
  isFile: boolean
  /** What it is, for a crawl that goes on with the same one. */
  to: string
  /** Where a name was when it was last seen, and what was known of it; null for one that was forgotten, which is not visited either. */
  known(name: Name): Promise<Known | null>
  /** Resolves when the batch is written, with what became of each. */
  write(batch: readonly Observation[]): Promise<readonly (Outcome | 'written')[]>
  /** What visits came to since a moment, and what these came to; nothing is known of that without a store. */
  history: Pick<SelfCheck, 'history' | 'now'> & { add(outcomes: readonly Outcomes[]): Promise<void> }
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
    isFile: false,
    to,
    known: (name) => knownOf(store, name, rhythm ?? RHYTHM),
    history: {
      history: (since) => store.schedule.outcomes(since),
      now: () => store.now(),
      add: (outcomes) => store.schedule.add(outcomes),
    },
    write: (batch) => ingest(store, batch, rhythm && { rhythm }),
    close: () => store.close(),
  }
}

async function knownOf({ frontier }: Store, name: Name, rhythm: Rhythm): Promise<Known | null> {
  const [visit] = await frontier.visits([name])
  if (visit!.forgotten) return null
  if (visit!.version === 0) return UNKNOWN
  const [current] = await frontier.currents([name])
  return { places: placesOf(current!), past: pastOf(visit!, current!, rhythm) }
}

/** Writes wait for room on the disk that they go to; a file takes a batch only when there is room, a store again as well. */
export function patientDestination(destination: Destination, settings: Settings, signal: AbortSignal): Destination {
  const { isFile, to, write } = destination
  const store = isFile ? null : settings.store
  const room = new DiskRoom({ paths: store === null ? [to] : pathsOf(store), free: settings.diskFree, say: sayPause })
  const patiently: Destination['write'] = async (batch) => {
    if (!isFile) return room.write(() => write(batch), signal)
    await room.wait(signal)
    return write(batch)
  }
  return { ...destination, write: (batch) => patiently(batch).catch(inStop) }
}

/** A crawl that is stopped while it waits for room has not written what it saw last. */
function inStop(error: unknown): never {
  if ((error as Error).name !== 'AbortError') throw error
  throw new CommandFault('stopped without room for what was seen last, which is not written: run it again to go on')
}
