/**
 * The wishes' part of the port: names that somebody wants to be visited soon. It lies with the ledger, so that an API may write it.
 *
 * Wishes know nothing of the facts: one for a name that was forgotten, or is forgotten later, stays until it is fulfilled. The
 * crawler passes over the name (its tombstone says so) and fulfils the wish.
 */

import type { DomainName } from '../../values/domain-name.ts'
import type { Day } from '../../values/time.ts'

/** `lookup`: a caller looked up a name that was not known. `followup`: a file of the night needs fresh facts. */
export const CRAWL_REQUEST_KINDS = ['lookup', 'followup'] as const
export type CrawlRequestKind = (typeof CRAWL_REQUEST_KINDS)[number]

/** A caller's wish; at most `most` new names an account and day are taken. */
export type LookupRequest = { account: number; day: Day; name: DomainName; maxPerDay: number }

export interface CrawlRequests {
  /**
   * Wants a name ('lookup') for a caller. False where the account's wishes of the day are used up, or there is no such account; a
   * name that is wanted already costs nothing, and is true.
   */
  requestFromLookup(question: LookupRequest): Promise<boolean>
  /** Wants names, some thousands at a time; those that are wanted already stay so. */
  add(kind: CrawlRequestKind, names: readonly DomainName[]): Promise<void>
  /** The ranges of slots in which any name is wanted, ascending. */
  ranges(kind: CrawlRequestKind): Promise<number[]>
  /** At most `limit` wanted names of a range, bytewise. */
  inRange(kind: CrawlRequestKind, range: number, limit: number): Promise<DomainName[]>
  /** How many names are wanted of a kind. */
  count(kind: CrawlRequestKind): Promise<number>
  /** They were visited, or are not to be; one that is not wanted (any more) does no harm. */
  complete(kind: CrawlRequestKind, names: readonly DomainName[]): Promise<void>
}
