/** The schedule's part of the port: leases of slot ranges, due names, and the outcomes of the crawl. */

import type { CrawlState } from '../../apply/crawl-state.ts'
import type { DomainName } from '../../values/domain-name.ts'
import type { IpAddress } from '../../values/ip-address.ts'
import { type Instant, SECONDS_PER_DAY } from '../../values/time.ts'

/** Seconds until a lease expires unless it is renewed, and until a silent crawler counts as ended. */
export const LEASE_SECONDS = 60

/** Seconds for which the outcomes of an hour are stored. */
export const OUTCOME_SECONDS = 8 * SECONDS_PER_DAY

/** A crawler's lease of a slot range (values/domain-name.ts). Each lease of a range has a higher fencing token. */
export type Lease = { range: number; fence: number }

/**
 * Upper bounds (inclusive), in days, of the ages that a sweep counts; older names form the last group. Counts are
 * stored in this order.
 */
export const AGE_DAYS = [1, 2, 4, 7, 14, 21, 30, 60, 90, 180] as const

/**
 * What a sweep of slots counted. `names`: all except forgotten ones. `due`: names whose time has come; `overdue`: due
 * for a day or longer. `neverProbed`: names that were never probed, due or not. A name that was never scheduled (`due`
 * 0, or a place in a list) is due, and overdue unless it was never probed. `next`: the earliest time at which another
 * name is due; null for none. `ages`: names by the time since their last probe (dns or web), one count for each of
 * AGE_DAYS and one for older names. Names that were never probed are in none.
 */
export type SlotCount = {
  names: number
  due: number
  overdue: number
  neverProbed: number
  next: Instant | null
  ages: readonly number[]
}

/** The result of a finished sweep of a whole range: when to sweep it next, and its counts. */
export type RangeSweep = { nextSweep: Instant; count: SlotCount }

/**
 * The state of a range. `holder` and `expiresAt` are null without a valid lease; `lastSweep` and `count` if it was
 * never swept.
 */
export type RangeState = {
  range: number
  holder: string | null
  expiresAt: Instant | null
  nextSweep: Instant
  lastSweep: Instant | null
  count: SlotCount | null
}

/** A crawler that sent a heartbeat within LEASE_SECONDS. `report`: JSON text of the crawler. */
export type CrawlerHeartbeat = { holder: string; heartbeatAt: Instant; report: string }

/**
 * Probes that ended in one hour (a multiple of 3600), by the prior state of their names (`kind`, defined by the
 * crawler). `noWebsite`: status ok without a website.
 */
export type OutcomeCount = {
  hour: Instant
  kind: string
  probes: number
  servfail: number
  nxdomain: number
  noWebsite: number
}

/**
 * For crawlers. All times are those of the store's clock. A lease lasts until it is released or its range is leased
 * again. An expired lease (LEASE_SECONDS after it was granted or renewed) stays valid, and may be renewed, until
 * another crawler leases the range.
 */
export interface Schedule {
  /**
   * Leases up to `max` free or expired ranges, those with the oldest due sweep first. Only ranges with a due sweep, or,
   * with `ranges`, any of these. A range never has two holders.
   */
  lease(holder: string, max: number, ranges?: readonly number[]): Promise<Lease[]>
  /** Renews leases. Returns the leases that are still valid. One renewal every 20 seconds is enough. */
  renew(leases: readonly Lease[]): Promise<Lease[]>
  /** Releases ranges. Without a sweep, the due time of a range does not change. Invalid leases are ignored. */
  release(leases: readonly { lease: Lease; sweep: RangeSweep | null }[]): Promise<void>
  /**
   * All names that are due at `at`, in the slots `from` to `to` (inclusive, of one range), without forgotten ones. Also
   * returns the count of these slots. Names are in slot order, then byte order. On SQLite the scan blocks the process:
   * request only as many slots as have about ten thousand names (see `count` of the range).
   */
  due(from: number, to: number, at: Instant): Promise<{ states: CrawlState[]; count: SlotCount }>
  /** At most `limit` names, without forgotten ones, in slot order, then byte order, after `after` (exclusive). */
  names(after: DomainName | null, limit: number): Promise<DomainName[]>
  /** The current number of names of each address, in the order of `addresses`. */
  nameCounts(addresses: readonly IpAddress[]): Promise<number[]>
  ranges(): Promise<RangeState[]>

  /**
   * Records that a crawler is alive, with its report; null: it has ended. Returns the number of live crawlers. Does not
   * renew leases.
   */
  heartbeat(holder: string, report: string | null): Promise<number>
  crawlers(): Promise<CrawlerHeartbeat[]>
  /** Adds to the outcomes of hours. Deletes outcomes older than 8 days. */
  addOutcomes(outcomes: readonly OutcomeCount[]): Promise<void>
  /** The outcomes of all crawlers from the hour `since` on, by hour and kind. */
  outcomes(since: Instant): Promise<OutcomeCount[]>
}
