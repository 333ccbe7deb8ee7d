/** Where fetched zones go: the inbox, and whether a zone of a day is already there. */

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { CommandFault } from '../../config/command-fault.ts'
import type { Settings } from '../../config/settings.ts'
import { errorCause, InputError } from '../../import/stream/input-error.ts'
import { openRegistrations } from '../../registrations/registrations.ts'
import { requireOwnPlaces } from '../../server/places/check.ts'
import { inboxPlace, zonesPlace } from '../../server/places/place.ts'
import { storeExists } from '../../store/open.ts'
import type { Day } from '../../values/time.ts'
import { withExistingStore } from '../program/existing-store.ts'

/** Throws CommandFault if the inbox or the zones are not those of the installation. No store: no installation yet. */
export async function checkZonePlaces(settings: Settings): Promise<void> {
  if (!(await storeExists(settings.store))) return
  const places = [inboxPlace(settings), zonesPlace(settings)]
  await withExistingStore('read', (store) => requireOwnPlaces(places, store))
}

/** Returns a CommandFault for an error that the user can correct, else the error itself. */
export function zoneFetchFault(error: unknown): unknown {
  const { path } = error as NodeJS.ErrnoException
  if (error instanceof InputError) return new CommandFault(error.message)
  return path === undefined ? error : new CommandFault(`${path} cannot be used: ${errorCause(error)}`)
}

/** Whether a zone lies in the inbox, taken or not, or was imported otherwise. */
export async function isZonePresent(
  { inbox, zones }: Settings,
  zone: string,
  day: Day,
  file: string,
): Promise<boolean> {
  if (['', 'done', 'failed'].some((folder) => existsSync(join(inbox, folder, file)))) return true
  const sources = await openRegistrations(zones).sources(day)
  return sources.some(({ source }) => source === `zone:${zone}`)
}
