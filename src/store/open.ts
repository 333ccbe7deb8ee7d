/** Opens a store by its URL: the one place that knows which engines there are. */

import type { Instant } from '../words/time.ts'
import { StoreFault } from './fault.ts'
import { openSqlite } from './sqlite/open.ts'
import type { Store } from './store.ts'

export type OpenOptions = {
  /** `read`: facts are only read (API). `write`: imports and crawls. */
  access: 'read' | 'write'
  /**
   * Who writes the ledger. `own`: this thread (commands). `thread`: a thread of this process (the primary of `serve`).
   * `primary`: the primary of this cluster, by message (workers of `serve`).
   */
  ledger: 'own' | 'thread' | 'primary'
  /** DOMAINDEX_SECRET; null for the secret that the store makes. */
  secret: string | null
  /** Whole Unix seconds; the machine's clock by default. */
  now?: () => Instant
  /** Marks a store made now as a demo, and allows to open one that is. */
  demo?: boolean
}

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
