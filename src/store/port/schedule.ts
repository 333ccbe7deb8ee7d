/** The schedule's part of the port: who visits which slots, which of their names are due, and what is known of the crawl. */

import type { CrawlState } from '../../apply/crawl-state.ts'
import type { DomainName } from '../../values/domain-name.ts'
import type { IpAddress } from '../../values/ip-address.ts'
import type { Instant } from '../../values/time.ts'

/** Seconds for which a lease stands unless it is renewed, and for which a crawler counts as alive unless it is heard of. */
export const LEASE_SECONDS = 60

/** Seconds for which the outcomes of an hour are kept. */
export const OUTCOME_SECONDS = 8 * 86_400

/** A range of slots (words/name.ts) in one crawler's hands. Every new lease of a range has a higher fence. */
export type Lease = { range: number; fence: number }

/** Upper bounds (inclusive), in days, of the ages that a sweep counts; what is older is counted last. Counts are stored in this order. */
export const AGE_DAYS = [1, 2, 4, 7, 14, 21, 30, 60, 90, 180] as const

/**
 * What a sweep of slots came upon. `names`: all but forgotten ones; `due`: those whose time has come, `overdue` for a day or
 * longer; `fresh`: those that were never looked at, due or not. One that was never planned (`due` 0) is due, and overdue unless
 * it is fresh. `next`: the earliest time at which another one is due, null for none. `ages`: names by the time since they were
 * last looked at (dns or web), each in one of AGE_DAYS and one more for older ones; fresh ones are in none.
 */
export type SlotCount = {
  names: number
  due: number
  overdue: number
  neverProbed: number
  next: Instant | null
  ages: readonly number[]
}

/** A finished sweep of a whole range: when the range is to be swept again, and what was there. */
export type RangeSweep = { nextSweep: Instant; count: SlotCount }

/** A range as it stands. `holder` and `until` are null where nobody holds it, or the lease has run out; `swept` and `count` where it was never swept. */
export type RangeState = {
  range: number
  holder: string | null
  expiresAt: Instant | null
  nextSweep: Instant
  lastSweep: Instant | null
  count: SlotCount | null
}

/** A crawler that was heard of within LEASE_SECONDS. `report`: its own words, JSON. */
export type CrawlerHeartbeat = { holder: string; heartbeatAt: Instant; report: string }

/** Visits that ended in one hour (a multiple of 3600), by what was known of the names before (`kind`, the crawler's word). `none`: ok, and no website. */
export type OutcomeCount = {
  hour: Instant
  kind: string
  probes: number
  servfail: number
  nxdomain: number
  noWebsite: number
}

/**
 * For crawlers. All times are those of the store's clock. A lease stands until it is released, or the range leased anew: one that
 * has run out (LEASE_SECONDS after it was given or renewed) stands as long as nobody else has taken the range, and may be renewed.
 */
export interface Schedule {
  /**
   * Leases up to `most` ranges that nobody holds (any more), those first whose sweep is due longest; only ranges whose sweep
   * is due, or, with `ranges`, any of these. Never two holders of one range.
   */
  lease(holder: string, max: number, ranges?: readonly number[]): Promise<Lease[]>
  /** Prolongs leases; returns those that still stand, the others belong to somebody else, or to nobody. Once every 20 seconds will do. */
  renew(leases: readonly Lease[]): Promise<Lease[]>
  /** Gives ranges back. Without a sweep the range is due again as before. A lease that no longer stands changes nothing. */
  release(leases: readonly { lease: Lease; sweep: RangeSweep | null }[]): Promise<void>
  /**
   * All names of the slots `from` to `to` (inclusive, of one range) that are due at `at`, in the order of slots, then bytewise, but
   * for forgotten ones; and the count of these slots. One scan of their rows, which holds up the process on SQLite: ask for so many
   * slots at once as have some ten thousand names (`count` of the range says how many there were).
   */
  due(from: number, to: number, at: Instant): Promise<{ visits: CrawlState[]; count: SlotCount }>
  /** At most `limit` names that were not forgotten, in the order of slots, then bytewise, after `after` (exclusive). */
  names(after: DomainName | null, limit: number): Promise<DomainName[]>
  /** How many names are on each address now, in the order asked. */
  nameCounts(addresses: readonly IpAddress[]): Promise<number[]>
  ranges(): Promise<RangeState[]>

  /** Says that a crawler lives, and what it has to report; null: that it has ended. Returns how many live. Leases are not renewed by it. */
  heartbeat(holder: string, report: string | null): Promise<number>
  crawlers(): Promise<CrawlerHeartbeat[]>
  /** Adds to the outcomes of hours; those older than 8 days are dropped. */
  addOutcomes(outcomes: readonly OutcomeCount[]): Promise<void>
  /** The outcomes of all crawlers from the hour `since` on, by hour and kind. */
  outcomes(since: Instant): Promise<OutcomeCount[]>
}
