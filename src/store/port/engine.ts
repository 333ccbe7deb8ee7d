/** What an engine implements: the rules of its URLs, and the functions that work on a store as a whole. */

import type { Instant } from '../../values/time.ts'
import type { BulkStore } from './bulk.ts'
import type { Store } from './store.ts'
import type { StoreLocation } from './url.ts'

/** The options for opening a store: access, ledger writer, clock. */
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

/** The locations of an engine's stores. These rules load neither the engine nor its database client. */
export type LocationRules = {
  /** The engine's name in messages. */
  name: string
  /** Matches the beginning of the engine's URLs. */
  scheme: RegExp
  /** How to write a URL, for messages. */
  urlFormat: string
  /** Whether a URL with this scheme is complete and unambiguous. */
  isValidUrl(url: string): boolean
  /** A URL with this scheme, without its password. */
  redactUrl(url: string): string
  /** The paths on this machine that the store writes to. */
  paths(location: StoreLocation): string[]
  /** Whether the ledger can have a path of its own. */
  takesLedgerPath: boolean
}

/** Receives the share of the work that is done, 0 to 1. */
export type OnProgress = (share: number) => void

/** The work on whole stores. The rest of the engine is behind the `Store` that `open` returns. Throws StoreFault. */
export type StoreEngine = {
  /** Creates the store if there is none. The message of the fault says what to do. */
  open(location: StoreLocation, options: OpenStoreOptions): Promise<Store>
  /** Whether there is a store, even an unfinished one. `maxSilence`: milliseconds that a server may be silent. */
  exists(location: StoreLocation, maxSilence?: number): Promise<boolean>
  /**
   * Migrates a store to this release. With `plan` it changes nothing. `report` receives what the migration waits for.
   * Returns the names of the migrations.
   */
  migrate(location: StoreLocation, plan: boolean, report: (message: string) => void): Promise<string[]>
  /** Opens a whole store for a copy. With `write`, it creates the store if there is none. */
  openBulk(location: StoreLocation, access: 'read' | 'write'): Promise<BulkStore>
  /** Copies a store that is in use to the new folder `to`. Aborting `signal` stops it and leaves nothing behind. */
  backup(location: StoreLocation, to: string, onProgress: OnProgress, signal: AbortSignal): Promise<void>
  /** Restores the backup in the folder `from` to a location without a store. */
  restore(from: string, location: StoreLocation, onProgress: OnProgress): Promise<void>
}
