/**
 * The crawl requests' part of the port: names to probe soon. They are stored with the ledger, so that an API server may
 * write them.
 *
 * Crawl requests do not depend on the facts: a request for a forgotten name stays until it is completed. The crawler
 * skips the name because of its tombstone and completes the request.
 */

import type { DomainName } from '../../values/domain-name.ts'
import type { Day } from '../../values/time.ts'

/** `lookup`: a caller looked up an unknown name. `followup`: a follow-up file needs current facts. */
export const CRAWL_REQUEST_KINDS = ['lookup', 'followup'] as const
export type CrawlRequestKind = (typeof CRAWL_REQUEST_KINDS)[number]

/** The highest number that `count` returns, so that its cost has a bound. */
export const MAX_COUNTED_REQUESTS = 1_000_000

/** The request of a caller. The ledger accepts at most `maxPerDay` new names per account and day. */
export type LookupRequest = { account: number; day: Day; name: DomainName; maxPerDay: number }

export interface CrawlRequests {
  /**
   * Requests a name (`lookup`) for a caller. Returns false if the account has reached its daily maximum or does not
   * exist. A name that is requested already costs nothing and returns true.
   */
  requestFromLookup(request: LookupRequest): Promise<boolean>
  /** Requests names, some thousands at a time. Existing requests stay. */
  add(kind: CrawlRequestKind, names: readonly DomainName[]): Promise<void>
  /** The slot ranges that have requests, ascending. */
  ranges(kind: CrawlRequestKind): Promise<number[]>
  /** At most `limit` requested names of a range, in byte order. */
  inRange(kind: CrawlRequestKind, range: number, limit: number): Promise<DomainName[]>
  /** The number of requests of a kind, MAX_COUNTED_REQUESTS at most. */
  count(kind: CrawlRequestKind): Promise<number>
  /** Completes requests: the names were probed, or are never probed. Names without a request are ignored. */
  complete(kind: CrawlRequestKind, names: readonly DomainName[]): Promise<void>
}
