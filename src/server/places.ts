/**
 * Checks that the settings name the places where this installation keeps its files. Each place has a mark, and the
 * store knows it too. So a server with another folder, or with an empty mount point, says so instead of working in it.
 */

import { randomUUID } from 'node:crypto'
import { CommandFault } from '../config/command-fault.ts'
import { SETTINGS, type Settings } from '../config/settings.ts'
import { openFileStore } from '../jobs/file-store/open.ts'
import { readFolderMark, writeFolderMark } from '../jobs/file-store/place-mark.ts'
import type { Ledger, PlaceName } from '../store/port/ledger.ts'

/** A place as the settings name it. */
export type Place = {
  name: PlaceName
  location: string
  /** The mark in the place; null if there is none. */
  mark(): Promise<string | null>
  setMark(mark: string): Promise<void>
}

/** Milliseconds between two checks. */
const CHECK_INTERVAL_MS = 10_000

type PlaceMarks = Pick<Ledger, 'placeMark' | 'claimPlace'>

/** The places that a server uses. One that runs no jobs needs neither zones nor an inbox. */
export async function placesOf(settings: Settings): Promise<Place[]> {
  const files = await filePlace(settings)
  return settings.jobTimes === null ? [files] : [files, zonesPlace(settings), folderPlace('inbox', settings.inbox)]
}

/** The place of the finished files. */
export async function filePlace(settings: Settings): Promise<Place> {
  const { mark, setMark } = await openFileStore(settings)
  return { name: 'files', location: settings.files, mark, setMark }
}

/** The place of zones and lists of names. */
export const zonesPlace = ({ zones }: Settings): Place => folderPlace('zones', zones)

function folderPlace(name: 'zones' | 'inbox', folder: string): Place {
  return {
    name,
    location: folder,
    mark: () => readFolderMark(folder),
    setMark: (mark) => writeFolderMark(folder, mark),
  }
}

/**
 * Returns a line for each place that is not that of the installation. Marks a place without a mark if `claims` is set
 * and the installation has no such place yet. Throws if the store or a place cannot be used.
 */
export async function wrongPlaces(places: readonly Place[], ledger: PlaceMarks, claims: boolean): Promise<string[]> {
  const faults: string[] = []
  for (const place of places) {
    const own = await ledger.placeMark(place.name)
    const found = await place.mark()
    const isUnclaimed = own === null && found === null && claims
    const isRight = isUnclaimed ? await claim(place, ledger, null) : own === found
    if (!isRight) faults.push(wrongPlaceMessage(place, found))
  }
  return faults
}

/** Throws CommandFault if a place is not that of the installation. */
export async function requireOwnPlaces(places: readonly Place[], ledger: PlaceMarks): Promise<void> {
  const faults = await wrongPlaces(places, ledger, false)
  if (faults.length > 0) throw new CommandFault(faults.join('\n'))
}

/** Makes the places those of the installation. A place that it used before is then a wrong one. */
export async function claimPlaces(places: readonly Place[], ledger: PlaceMarks): Promise<void> {
  for (const place of places) {
    const own = await ledger.placeMark(place.name)
    if (own === null || own !== (await place.mark())) await claim(place, ledger, own)
  }
}

/** Returns false if another process has claimed a place meanwhile. */
async function claim(place: Place, ledger: PlaceMarks, former: string | null): Promise<boolean> {
  const mark = randomUUID()
  if ((await ledger.claimPlace(place.name, mark, former)) !== mark) return false
  await place.setMark(mark)
  return true
}

function wrongPlaceMessage({ name, location }: Place, found: string | null): string {
  const what = found === null ? 'is empty, or has no mark' : 'belongs to another installation'
  return (
    `${SETTINGS[name].name} (${location}) ${what}: mount or name the place that the other servers of this store use. ` +
    'If that place is lost, or this one replaces it, run domaindex claim'
  )
}

export type PlaceMonitor = { areRight(): boolean; close(): void }

/**
 * Checks the places once, and then every CHECK_INTERVAL_MS. `onChange` receives the lines of wrong places, none when
 * all are right again. While the store or a place does not respond, the last
 * result counts.
 */
export async function monitorPlaces(
  check: () => Promise<string[]>,
  onChange: (faults: readonly string[]) => void = () => {},
): Promise<PlaceMonitor> {
  let faults = ''
  const update = async (): Promise<void> => {
    const found = await check().catch(() => null)
    if (found === null || found.join('\n') === faults) return
    faults = found.join('\n')
    onChange(found)
  }
  await update()
  const timer = setInterval(() => void update(), CHECK_INTERVAL_MS).unref()
  return { areRight: () => faults === '', close: () => clearInterval(timer) }
}
