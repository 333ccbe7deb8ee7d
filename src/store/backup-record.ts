/** When `domaindex backup` last copied a store, which the store itself keeps. */

import type { Instant } from '../values/time.ts'
import type { Store, StoreMaintenance } from './port/store.ts'

/** The name under which the store keeps it. */
const JOB = 'last-backup'

export async function recordBackup({ maintenance, now }: Pick<Store, 'maintenance' | 'now'>): Promise<void> {
  await maintenance.saveProgress(JOB, String(await now()))
}

/** Null if there was none, by the store's clock. */
export async function readBackupTime(maintenance: Pick<StoreMaintenance, 'progress'>): Promise<Instant | null> {
  const text = await maintenance.progress(JOB)
  return text === null ? null : Number(text)
}
