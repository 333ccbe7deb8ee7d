/** Opens a store by its URL: the one place that knows which engines there are. */

import { StoreFault } from './fault.ts'
import type { OpenOptions } from './options.ts'
import { openSqlite } from './sqlite/open.ts'
import type { Store } from './store.ts'

/** Throws StoreFault where the store cannot be opened, with what to do about it. */
export async function openStore(url: string, options: OpenOptions): Promise<Store> {
  return openSqlite(sqlitePath(url), { now: () => Math.floor(Date.now() / 1000), demo: false, ...options })
}

/** The path of a `sqlite:` URL. */
export function sqlitePath(url: string): string {
  if (!url.startsWith('sqlite:') || url.length === 'sqlite:'.length) {
    throw new StoreFault(
      `DOMAINDEX_STORE is ${JSON.stringify(url)}: write sqlite: and the path of a file, as in sqlite:data/domaindex.db`,
    )
  }
  return url.slice('sqlite:'.length)
}
