/**
 * The session settings that the workers of Citus need: the coordinator passes only those of `set local` on. They are
 * stored as defaults of the role in this database, which Citus also stores on the workers.
 */

import { WORKER_SETTINGS } from '../connection.ts'
import type { Database } from '../database.ts'

const READ_STORED = {
  name: 'worker-settings.read',
  text: `select quote_ident(current_database()) as database, (
      select array_to_json(setconfig)::text from pg_db_role_setting
      where setrole = to_regrole(quote_ident(current_user))::oid
        and setdatabase = (select oid from pg_database where datname = current_database())) as stored`,
}
/** Two processes that start at once must not store them at the same time. */
const LOCK_SETTINGS = `select pg_advisory_xact_lock(hashtext('domaindex worker settings'))`

/**
 * Stores the settings that are missing. Returns true if it did: connections to workers that are already open lack them,
 * and they end with the connections to the coordinator.
 */
export async function storeWorkerSettings({
  read,
  transactionOnce,
}: Pick<Database, 'read' | 'transactionOnce'>): Promise<boolean> {
  const [first] = await read<StoredSettings>(READ_STORED)
  if (missingSettings(first!).length === 0) return false
  await transactionOnce(async ({ rows, script }) => {
    await script(LOCK_SETTINGS)
    const [now] = await rows<StoredSettings>(READ_STORED)
    for (const setting of missingSettings(now!))
      await script(`alter role current_user in database ${now!.database} set ${setting}`)
  })
  return true
}

type StoredSettings = { database: string; stored: string | null }

function missingSettings({ stored }: StoredSettings): string[] {
  const known: string[] = JSON.parse(stored ?? '[]')
  return WORKER_SETTINGS.filter((setting) => !known.includes(setting))
}
