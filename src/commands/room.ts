/** Room on the disks of a command: what it writes waits for it, and the operator is told. */

import type { Logger } from 'pino'
import type { Settings } from '../config.ts'
import { DiskRoom, pathsOf, patientStore } from '../store/disk-room.ts'
import { openStore } from '../store/open.ts'
import type { Store } from '../store/store.ts'

type Say = ConstructorParameters<typeof DiskRoom>[0]['say']

/** On standard error. */
export const sayPause: Say = (why) => {
  console.error(why === null ? 'domaindex: there is room again, and it goes on' : `domaindex: paused: ${why}`)
}

/** In a log. `who`: whose work pauses. */
export function pauseTeller(log: Pick<Logger, 'warn'>, who: string): Say {
  return (why) => log.warn(why === null ? `${who} goes on: there is room again` : `${who} pauses: ${why}`)
}

/** The room of the store's disk, and of those that the other paths lie on. */
export function roomOf({ store, diskFree }: Settings, others: readonly string[], say: Say): DiskRoom {
  return new DiskRoom({ paths: [...pathsOf(store), ...others], free: diskFree, say })
}

/** Opens the store of the settings for writing; saves wait for room on its disk and on those of the other paths. */
export async function openPatientStore(
  settings: Settings,
  others: readonly string[],
  signal: AbortSignal,
): Promise<Store> {
  const { store: place, secret, pool } = settings
  const store = await openStore(place, { access: 'write', ledger: 'own', secret, pool })
  return patientStore(store, roomOf(settings, others, sayPause), signal)
}
