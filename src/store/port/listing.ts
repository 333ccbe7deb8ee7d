/** The listing's part of the port: every name that is known, in byte order, as the text that the nightly files are made of. */

import type { DomainName } from '../../values/domain-name.ts'
import type { Instant } from '../../values/time.ts'

/** What a line of `rows` tells, in this order. */
export const LISTING_COLUMNS = [
  'domain',
  'has_website',
  'redirect_to_domain',
  'redirect_target',
  'mx',
  'mail_servers',
  'ssl',
  'ip',
] as const

/** What comes before the pages: `names` that came since the last walk are put in order, then `facts` are. */
export type ListingStage = 'names' | 'facts'

/** `signal` gives it up with its reason; `onStage` is told how much of a stage is done, and how much it is in all. */
export type ListingOptions = { signal: AbortSignal; onStage?: (stage: ListingStage, done: number, all: number) => void }

/** Whole lines, each with its line feed: at least one, and at most 20,000. */
export type ListingPage = { text: Uint8Array; rows: number; first: DomainName; last: DomainName }

/** For who builds snapshots. */
export interface Listing {
  /**
   * Begins a walk. In it is every name that is known now, once, in byte order; none that comes later, and none that was
   * forgotten before its page was read. One walk at a time: who begins another one takes away what this one stands on.
   */
  start(options: ListingOptions): Promise<NameListing>
}

/** Each page is a short read transaction of its own, so that a walk holds up nobody, however long it takes. */
export interface NameListing {
  /** When it began. */
  startedAt: Instant
  /** About how many names it has; null where nobody has counted. */
  estimatedNames: number | null
  /** Names alone. */
  names(): AsyncIterable<ListingPage>
  /** Lines of CSV (RFC 4180) with the columns of ROW_COLUMNS, as the contract's chapter "Files" fills them. */
  rows(): AsyncIterable<ListingPage>
  /** Removes what it has put aside. */
  close(): Promise<void>
}
