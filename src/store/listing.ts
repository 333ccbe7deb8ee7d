/** The listing's part of the port: every name that is known, in byte order, as the text that the nightly files are made of. */

import type { Name } from '../words/name.ts'
import type { Instant } from '../words/time.ts'

/** What a line of `rows` tells, in this order. */
export const ROW_COLUMNS = [
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
export type Stage = 'names' | 'facts'

/** `signal` gives it up with its reason; `onStage` is told how much of a stage is done, and how much it is in all. */
export type WalkOptions = { signal: AbortSignal; onStage?: (stage: Stage, done: number, all: number) => void }

/** Whole lines, each with its line feed: at least one, and at most 20,000. */
export type ListedPage = { text: Uint8Array; rows: number; first: Name; last: Name }

/** For who builds snapshots. */
export interface Listing {
  /**
   * Begins a walk. In it is every name that is known now, once, in byte order; none that comes later, and none that was
   * forgotten before its page was read. One walk at a time: who begins another one takes away what this one stands on.
   */
  begin(options: WalkOptions): Promise<Walk>
}

/** Each page is a short read transaction of its own, so that a walk holds up nobody, however long it takes. */
export interface Walk {
  /** When it began. */
  begun: Instant
  /** About how many names it has; null where nobody has counted. */
  about: number | null
  /** Names alone. */
  names(): AsyncIterable<ListedPage>
  /** Lines of CSV (RFC 4180) with the columns of ROW_COLUMNS, as the contract's chapter "Files" fills them. */
  rows(): AsyncIterable<ListedPage>
  /** Removes what it has put aside. */
  close(): Promise<void>
}
