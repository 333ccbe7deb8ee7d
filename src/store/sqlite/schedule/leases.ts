/** Leases of slot ranges on SQLite. One write transaction at a time, so that no range has two holders. */

import type { DatabaseSync } from 'node:sqlite'
import type { Instant } from '../../../values/time.ts'
import { LEASE_SECONDS, type Lease, type RangeState, type RangeSweep } from '../../port/schedule.ts'

/**
 * The range is free or its lease has expired. An expiry beyond the longest possible one was written before the clock
 * was set back.
 */
const RANGE_FREE_CONDITION = '(holder is null or expires_at <= ?1 or expires_at > ?1 + ?2)'
const LEASE_VALID_CONDITION = 'slot_range = ? and fence = ? and holder is not null'

export function leaseWrites(database: DatabaseSync) {
  const readDue = database.prepare(
    `select slot_range from slot_lease where ${RANGE_FREE_CONDITION} and next_sweep <= ?1 order by next_sweep, slot_range limit +?3`,
  )
  const readAmong = database.prepare(
    `select slot_range from slot_lease where ${RANGE_FREE_CONDITION} and slot_range in (select value from json_each(?4)) order by next_sweep, slot_range limit +?3`,
  )
  const acquire = database.prepare(
    'update slot_lease set holder = ?, fence = fence + 1, expires_at = ? where slot_range = ? returning slot_range as range, fence',
  )
  const extend = database.prepare(`update slot_lease set expires_at = ? where ${LEASE_VALID_CONDITION}`)
  const release = database.prepare(
    `update slot_lease set holder = null, expires_at = null where ${LEASE_VALID_CONDITION}`,
  )
  const releaseSwept = database.prepare(
    `update slot_lease set holder = null, expires_at = null, next_sweep = ?, last_sweep = ?, counts = ? where ${LEASE_VALID_CONDITION}`,
  )
  return {
    lease(now: Instant, holder: string, max: number, ranges?: readonly number[]): Lease[] {
      const key = [now, LEASE_SECONDS, max] as const
      const free = ranges ? readAmong.all(...key, JSON.stringify(ranges)) : readDue.all(...key)
      return (free as { slot_range: number }[]).map(({ slot_range }) => ({
        ...(acquire.get(holder, now + LEASE_SECONDS, slot_range) as Lease),
      }))
    },
    renew: (now: Instant, leases: readonly Lease[]): Lease[] =>
      leases.filter(({ range, fence }) => extend.run(now + LEASE_SECONDS, range, fence).changes === 1),
    release(now: Instant, leases: readonly { lease: Lease; sweep: RangeSweep | null }[]): void {
      for (const { lease, sweep } of leases) {
        const { range, fence } = lease
        if (sweep === null) release.run(range, fence)
        else releaseSwept.run(sweep.nextSweep, now, JSON.stringify(sweep.count), range, fence)
      }
    },
  }
}

type LeaseStateRow = Omit<RangeState, 'count'> & { count: string | null }

export function rangeReads(database: DatabaseSync) {
  const readAll = database.prepare(
    `select slot_range as range, iif(${RANGE_FREE_CONDITION}, null, holder) as holder,
       iif(${RANGE_FREE_CONDITION}, null, expires_at) as expiresAt, next_sweep as nextSweep, last_sweep as lastSweep, counts as count
     from slot_lease order by slot_range`,
  )
  return {
    ranges: (now: Instant): RangeState[] =>
      (readAll.all(now, LEASE_SECONDS) as LeaseStateRow[]).map((row) => ({
        ...row,
        count: row.count && JSON.parse(row.count),
      })),
  }
}
