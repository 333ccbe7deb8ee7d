/** Reads what was registered and dropped on each day, over all zones and lists. The jobs build files from it. */

import { createExternalSorter } from '../import/stream/external-sort.ts'
import type { DomainName } from '../values/domain-name.ts'
import type { Day, Instant } from '../values/time.ts'
import {
  type DaysCache,
  daysWithSources,
  openDraftList,
  type RegistrationSource,
  readSource,
  readSources,
} from './sources.ts'

/** Names in ascending byte order, each once, in batches of some thousands. A reader may stop at any time. */
type DayNames = AsyncGenerator<DomainName[]>

export interface Registrations {
  /** Returns the days with data of any zone or list, ascending, and when the data of each last changed. */
  days(): Promise<{ day: Day; changed: Instant }[]>
  /** Returns the zones (`zone:gov`) and lists (`list:NAME`) with data of a day, by name, or none for an unknown day. */
  sources(day: Day): Promise<RegistrationSource[]>
  registered(day: Day): DayNames
  dropped(day: Day): DayNames
}

/** Names per batch, and bytes of names held in memory. */
const REGISTRATION_BATCH_NAMES = 5_000
const REGISTRATION_SORT_BYTES = 33_554_432
/** How often a source may be replaced while it is being opened. */
const MAX_OPEN_TRIES = 10

/** Opens the registrations in a folder, which may not exist yet. */
export function openRegistrations(root: string): Registrations {
  const cache: DaysCache = new Map()
  return {
    days: () => daysWithSources(root, cache),
    sources: async (day) => (await readSources(root, day)).map(({ basis: _, data: __, ...source }) => source),
    registered: (day) => namesOfDay(root, day, 'registered'),
    dropped: (day) => namesOfDay(root, day, 'dropped'),
  }
}

type Movement = 'registered' | 'dropped'

/**
 * Yields the names that any source registered or dropped. It sorts them again, because there may be more lists than files
 * can be open at once.
 */
async function* namesOfDay(root: string, day: Day, movement: Movement): DayNames {
  const names = createExternalSorter(REGISTRATION_SORT_BYTES)
  for (const { source, [movement]: count } of await readSources(root, day)) {
    if (count === 0) continue
    for await (const batch of await openNames(root, day, source, movement)) for (const name of batch) names.add(name)
  }
  let batch: DomainName[] = []
  let last = ''
  for (const name of names.sorted()) {
    if (name !== last) batch.push(name as DomainName)
    last = name
    if (batch.length < REGISTRATION_BATCH_NAMES) continue
    yield batch
    batch = []
  }
  if (batch.length > 0) yield batch
}

/** Opens the names of a source, even if the source is replaced meanwhile. */
async function openNames(root: string, day: Day, source: string, movement: Movement): Promise<DayNames> {
  for (let tries = 0; tries < MAX_OPEN_TRIES; tries++) {
    const stored = await readSource(root, day, source)
    if (stored === null) break
    const [registered, dropped] = stored.data
    const names = await openDraftList(root, { source, day, file: movement === 'registered' ? registered : dropped })
    if (names !== null) return names
  }
  throw new Error(`the names of ${source} of ${day} are missing, although its manifest lists them`)
}
