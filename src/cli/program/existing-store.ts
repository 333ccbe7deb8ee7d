/** A command's own store: the one that the settings name, where it is there already. */

import { CommandFault } from '../../config/command-fault.ts'
import { loadSettings, type Settings } from '../../config/settings.ts'
import { openStore, storeExists } from '../../store/open.ts'
import type { Store } from '../../store/port/store.ts'
import { redactedStoreUrl } from '../../store/port/url.ts'

/** The settings, where they name a store that is there. Throws CommandFault. */
export async function loadExistingStoreSettings(): Promise<Settings> {
  const settings = loadSettings()
  if (await storeExists(settings.store)) return settings
  throw new CommandFault(
    `there is no store at ${redactedStoreUrl(settings.store)}: import a file, or name another one with DOMAINDEX_STORE`,
  )
}

/** Opens it for the length of `work`. */
export async function withExistingStore<Result>(
  access: 'read' | 'write',
  work: (store: Store) => Promise<Result>,
): Promise<Result> {
  const { store: url, secret, pool } = await loadExistingStoreSettings()
  const store = await openStore(url, { access, ledger: 'own', secret, pool })
  try {
    return await work(store)
  } finally {
    await store.close()
  }
}
