/** Opens the configured store for a command. */

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

/** Opens the store while `work` runs. Throws CommandFault if it does not exist. */
export async function withExistingStore<Result>(
  access: 'read' | 'write',
  work: (store: Store) => Promise<Result>,
): Promise<Result> {
  return withStore(await loadExistingStoreSettings(), access, work)
}

/** Opens the store of the settings while `work` runs. Creates the store if it does not exist. */
export async function withStore<Result>(
  { store: location, secret, pool }: Settings,
  access: 'read' | 'write',
  work: (store: Store) => Promise<Result>,
): Promise<Result> {
  const store = await openStore(location, { access, ledger: 'own', secret, pool })
  try {
    return await work(store)
  } finally {
    await store.close()
  }
}
