/** The listing's part of the port: all known names in byte order, as the text of snapshots and daily files. */

import type { DomainName } from '../../values/domain-name.ts'
import type { Instant } from '../../values/time.ts'

/** The work before the first page: sort the `names` that were added since the last listing, then the `facts`. */
export type ListingStage = 'names' | 'facts'

/**
 * Aborting `signal` stops the work with the signal's reason. `onStage` receives the progress of a stage and its total.
 */
export type ListingOptions = {
  signal: AbortSignal
  onStage?: (stage: ListingStage, done: number, total: number) => void
}

/** Whole lines, each with its line feed: at least 1 and at most 20,000. */
export type ListingPage = { text: Uint8Array; rows: number; first: DomainName; last: DomainName }

/** For processes that build snapshots. */
export interface Listing {
  /**
   * Starts a listing. It contains every name that is known now, once, in byte order. It omits names that are added
   * later, and names that are forgotten before their page is read. Only one listing at a time: starting another one
   * invalidates this one.
   */
  start(options: ListingOptions): Promise<NameListing>
}

/** Each page is a short read transaction of its own, so a listing of any length blocks no other process. */
export interface NameListing {
  startedAt: Instant
  /** Estimated number of names; null if none were counted. */
  estimatedNames: number | null
  /** Lines with the name only. */
  names(): AsyncIterable<ListingPage>
  /**
   * Lines of CSV (RFC 4180) with the columns LISTING_COLUMNS of `shared/csv-row.ts`, as the contract's section "Files"
   * defines them. One iteration at a time.
   */
  rows(): AsyncIterable<ListingPage>
  /** Deletes its temporary data. A listing must be closed: its threads keep the process alive. */
  close(): Promise<void>
}
