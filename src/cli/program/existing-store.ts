/** Opens the configured store for a command, if it exists. */

import { CommandFault } from '../../config/command-fault.ts'
import { loadSettings, type Settings } from '../../config/settings.ts'
import { redactedStoreUrl } from '../../store/engines.ts'
import { openStore, storeExists } from '../../store/open.ts'
import type { Store } from '../../store/port/store.ts'

/** Returns the settings, which it loads by default. Throws CommandFault if their store does not exist. */
export async function loadExistingStoreSettings(settings: Settings = loadSettings()): Promise<Settings> {
  if (await storeExists(settings.store)) return settings
  throw new CommandFault(
    `there is no store at ${redactedStoreUrl(settings.store)}: import a file to create it, or set DOMAINDEX_STORE to another one`,
  )
}

/** Opens the store while `work` runs. */
export async function withExistingStore<Result>(
  access: 'read' | 'write',
  work: (store: Store) => Promise<Result>,
): Promise<Result> {
  const { store: location, secret, pool } = await loadExistingStoreSettings()
  const store = await openStore(location, { access, ledger: 'own', secret, pool })
  try {
    return await work(store)
  } finally {
    await store.close()
  }
}
