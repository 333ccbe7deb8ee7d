/** The options for opening a store: access, ledger writer, clock. */

import type { Instant } from '../../values/time.ts'

export type OpenStoreOptions = {
  /** `read`: facts are read-only (API). `write`: for imports and crawls. */
  access: 'read' | 'write'
  /**
   * Which thread or process writes the ledger. `own`: this thread (commands). `thread`: a thread of this process (the
   * primary of `serve`). `primary`: the primary of this cluster, by message (workers of `serve`).
   */
  ledger: 'own' | 'thread' | 'primary'
  /** DOMAINDEX_SECRET; null for the secret that the store generates. */
  secret: string | null
  /** Whole Unix seconds. Default: the clock of the machine that has the data. */
  now?: () => Instant
  /** Connections of this process, if the engine is a server. */
  pool?: number
  /** If the engine is a server: milliseconds that it may be silent during a request; default 90 seconds. */
  maxSilence?: number
  /** Marks a store that is created now as a demo, and allows opening a demo store. */
  demo?: boolean
}
