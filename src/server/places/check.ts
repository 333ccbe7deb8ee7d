/**
 * Checks that the settings name the places where this installation keeps its files. Each place has a mark, and the
 * store knows it too. So a server with another folder, or with an empty mount point, says so instead of working in it.
 */

import { CommandFault } from '../../config/command-fault.ts'
import { SETTINGS } from '../../config/settings.ts'
import { claimName, DESCRIPTION_NAME, MARK_NAME } from '../../jobs/file-store/place-mark.ts'
import type { Job } from '../../store/port/jobs.ts'
import type { Store } from '../../store/port/store.ts'
import type { Place } from './place.ts'

/** The parts of the store that know the marks and the built files. */
type PlaceStore = {
  ledger: Pick<Store['ledger'], 'placeMark' | 'claimPlace'>
  jobs: Pick<Store['jobs'], 'runs'>
}

/** A process of a server, the one that claims places, or a command. */
type PlaceUser = 'server' | 'claimer' | 'command'

const FILE_JOBS: readonly Job[] = ['daily', 'followup-7', 'followup-30', 'snapshot']

const HOW_TO_REPLACE = 'If that place is lost, or this one replaces it, run domaindex claim'

/**
 * Returns a line for each place that is not that of the installation. A place without a mark is right while the
 * installation has none for it; for a server, unless the files must be elsewhere. A claimer claims such a place, and
 * completes claims that were interrupted. If the files are wrong, it claims no other place. Throws if the store or a
 * place cannot be used.
 */
export async function wrongPlaces(places: readonly Place[], store: PlaceStore, by: PlaceUser): Promise<string[]> {
  const faults: string[] = []
  for (const place of places) {
    const fault = await placeFault(place, store, by === 'claimer' && faults.length > 0 ? 'server' : by)
    if (fault !== null) faults.push(fault)
  }
  return faults
}

/** Throws CommandFault if a place is not that of the installation. */
export async function requireOwnPlaces(places: readonly Place[], store: PlaceStore): Promise<void> {
  const faults = await wrongPlaces(places, store, 'command')
  if (faults.length > 0) throw new CommandFault(faults.join('\n'))
}

/** Makes the places those of the installation. A place that it used before is then a wrong one. */
export async function claimPlaces(places: readonly Place[], { ledger }: PlaceStore): Promise<void> {
  for (const place of places) {
    const own = await ledger.placeMark(place.name)
    if (own === null || !(await isOwn(place, own))) await claim(place, ledger, own)
    else await completeClaim(place, own)
  }
}

/**
 * Returns null if the place is that of the installation. It reads the place before the store, because a claim writes
 * the store first: so a mark that another process sets meanwhile is never unknown to the store.
 */
async function placeFault(place: Place, store: PlaceStore, by: PlaceUser): Promise<string | null> {
  const found = await place.notes.read(MARK_NAME)
  const own = await store.ledger.placeMark(place.name)
  if (own !== null && (await isOwn(place, own))) {
    if (by === 'claimer') await completeClaim(place, own)
    return null
  }
  if (own === null && found === null) {
    if (by === 'command') return null
    if (await isElsewhere(place, store)) return elsewhereMessage(place)
    if (by === 'server') return null
    if (await claim(place, store.ledger, null)) return null
  }
  return wrongPlaceMessage(place, found, await place.notes.read(DESCRIPTION_NAME))
}

/** Whether the place has the mark, or the claim of it. */
async function isOwn({ notes }: Place, mark: string): Promise<boolean> {
  if ((await notes.read(MARK_NAME)) === mark || (await notes.read(claimName(mark))) !== null) return true
  return (await notes.read(MARK_NAME)) === mark // another process may have completed the claim between both reads
}

/**
 * Claims a place. The claim is written to the place first, then the mark to the store and to the place, so that another
 * process can complete a claim that was interrupted. Returns false if another process has claimed another place.
 */
async function claim(place: Place, ledger: PlaceStore['ledger'], former: string | null): Promise<boolean> {
  const mark = place.newMark
  await place.notes.write(claimName(mark), mark)
  const stored = await ledger.claimPlace(place.name, mark, former)
  if (stored === mark) await completeClaim(place, mark)
  else await place.notes.remove(claimName(mark))
  return stored === mark || isOwn(place, stored)
}

async function completeClaim({ notes, description }: Place, mark: string): Promise<void> {
  if ((await notes.read(MARK_NAME)) === mark) return
  await notes.write(DESCRIPTION_NAME, description)
  await notes.write(MARK_NAME, mark)
  await notes.remove(claimName(mark))
}

/**
 * Whether the files of the installation must be in another place: it has built some, and this place has none. So the
 * first server that starts after an upgrade does not claim an empty place.
 */
async function isElsewhere(place: Place, { jobs }: PlaceStore): Promise<boolean> {
  if (place.name !== 'files' || (await place.hasFiles())) return false
  return (await jobs.runs(0)).some(({ job, rows }) => FILE_JOBS.includes(job) && rows !== null)
}

function elsewhereMessage({ name, location }: Place): string {
  return (
    `${SETTINGS[name].name} (${location}) is empty, but this installation has built files: ` +
    `mount or name the place where they are. ${HOW_TO_REPLACE}`
  )
}

function wrongPlaceMessage({ name, location }: Place, mark: string | null, description: string | null): string {
  const owner = description === null ? `mark ${mark}` : `store ${description}`
  const what = mark === null ? 'is empty, or has no mark' : `belongs to another installation (${owner})`
  return (
    `${SETTINGS[name].name} (${location}) ${what}: mount or name the place that the other servers of this store use. ` +
    HOW_TO_REPLACE
  )
}
