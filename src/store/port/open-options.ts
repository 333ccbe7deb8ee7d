/** How a store is opened: who reads, who writes, whose clock. */

import type { Instant } from '../../values/time.ts'

export type OpenStoreOptions = {
  /** `read`: facts are only read (API). `write`: imports and crawls. */
  access: 'read' | 'write'
  /**
   * Who writes the ledger. `own`: this thread (commands). `thread`: a thread of this process (the primary of `serve`).
   * `primary`: the primary of this cluster, by message (workers of `serve`).
   */
  ledger: 'own' | 'thread' | 'primary'
  /** DOMAINDEX_SECRET; null for the secret that the store makes. */
  secret: string | null
  /** Whole Unix seconds; by default the machine's clock on SQLite, the server's on PostgreSQL. */
  now?: () => Instant
  /** PostgreSQL: connections of this process. */
  pool?: number
  /** PostgreSQL: milliseconds for which the server may be silent while somebody waits, 90 seconds by default. */
  maxSilence?: number
  /** Marks a store made now as a demo, and allows to open one that is. */
  demo?: boolean
}
