/** What was registered and dropped on each day, over all zones and lists: for whoever makes the files of the day. */

import { createHash } from 'node:crypto'
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

/** Names rise bytewise, each once, some thousands at a time. A reader may give them up at any moment. */
export type RegisteredNames = AsyncGenerator<DomainName[]>

export interface Registrations {
  /** The days that any zone or list speaks of, ascending, and when what is said of each last changed. */
  days(): Promise<{ day: Day; changed: Instant }[]>
  /**
   * The zones (`zone:gov`) and lists (`list:NAME`) that speak of a day, by name; none for a day of which nothing is
   * known.
   */
  sources(day: Day): Promise<RegistrationSource[]>
  /** Changes exactly when what the day's sources say changes, or there is another one; null for a day without any. */
  digest(day: Day): Promise<string | null>
  registered(day: Day): RegisteredNames
  dropped(day: Day): RegisteredNames
}

/** Names that are handed over at once, and bytes of them that are held. */
const REGISTRATION_BATCH_NAMES = 5_000
const REGISTRATION_SORT_BYTES = 33_554_432
/** How often a source may be made anew while it is being opened. */
const MAX_OPEN_TRIES = 10

/** The registrations in a folder, which need not be there yet. */
export function openRegistrations(root: string): Registrations {
  const seen: DaysCache = new Map()
  return {
    days: () => daysWithSources(root, seen),
    sources: async (day) => (await readSources(root, day)).map(({ basis: _, data: __, ...source }) => source),
    async digest(day) {
      const sources = await readSources(root, day)
      const text = sources.map(({ source, digest }) => `${source} ${digest}\n`).join('')
      return sources.length === 0 ? null : createHash('sha256').update(text).digest('hex')
    },
    registered: (day) => mergedNames(root, day, 0),
    dropped: (day) => mergedNames(root, day, 1),
  }
}

/** All names of one kind: sorted anew, since there may be more lists than can be open at once. */
async function* mergedNames(root: string, day: Day, place: 0 | 1): RegisteredNames {
  const names = createExternalSorter(REGISTRATION_SORT_BYTES)
  for (const { source, registered, dropped } of await readSources(root, day)) {
    if ([registered, dropped][place] === 0) continue
    for await (const batch of await openSourceList(root, day, source, place)) for (const name of batch) names.add(name)
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

/** Opens a list of a source, also where that is made anew meanwhile. */
async function openSourceList(root: string, day: Day, source: string, place: 0 | 1): Promise<RegisteredNames> {
  for (let tries = 0; tries < MAX_OPEN_TRIES; tries++) {
    const kept = await readSource(root, day, source)
    if (kept === null) break
    const names = await openDraftList(root, { source, day, file: kept.data[place] })
    if (names !== null) return names
  }
  throw new Error(`the names of ${source} of ${day} are missing, though its manifest speaks of them`)
}
