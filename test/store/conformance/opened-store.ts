/** A new store for one test, with all its instances, on any engine. */

import { openStore } from '../../../src/store/open.ts'
import type { OpenStoreOptions } from '../../../src/store/port/engine.ts'
import type { CheckFault, Store } from '../../../src/store/port/store.ts'
import { checkAll } from '../check-all.ts'
import type { Opened } from './engine.ts'

const OPTIONS = { access: 'write', ledger: 'own', secret: 'a secret for the tests that is long enough' } as const

/** Returns everything that `check` reports, through connections that no instance of the test uses. */
type Check = () => Promise<readonly CheckFault[]>

/**
 * Opens the store at a URL. `remove` removes its data after every instance is closed. `wrap` changes an opened instance.
 * `check`: by default that of one more instance.
 */
export async function openedAt(
  url: string,
  options: Pick<OpenStoreOptions, 'now' | 'pool'>,
  remove: () => Promise<void>,
  { wrap = async (store) => store, check }: { wrap?: (store: Store) => Promise<Store>; check?: Check } = {},
): Promise<Opened> {
  const instances: Store[] = []
  const another = async () => {
    const store = await wrap(await openStore(url, { ...OPTIONS, ...options }))
    instances.push(store)
    return store
  }
  const closeAll = async () => {
    for (const instance of instances.splice(0)) await instance.close()
  }
  return {
    url,
    store: await another(),
    another,
    check: check ?? (async () => (await checkAll(await another())).faults),
    async reopen() {
      await closeAll()
      return another()
    },
    async close() {
      await closeAll()
      await remove()
    },
  }
}
