/** Leases of ranges of slots on SQLite: a write transaction at a time, so that two never get the same range. */

import type { DatabaseSync } from 'node:sqlite'
import type { Instant } from '../../../values/time.ts'
import { LEASE_SECONDS, type Lease, type RangeState, type RangeSweep } from '../../port/schedule.ts'

/** Nobody has it, or whoever has it was silent too long; one that ends later than any was made before the clock was set back. */
const RANGE_FREE_CONDITION = '(holder is null or expires_at <= ?1 or expires_at > ?1 + ?2)'
const LEASE_VALID_CONDITION = 'slot_range = ? and fence = ? and holder is not null'

export function leaseWrites(database: DatabaseSync) {
  const due = database.prepare(
    `select slot_range from slot_lease where ${RANGE_FREE_CONDITION} and next_sweep <= ?1 order by next_sweep, slot_range limit +?3`,
  )
  const among = database.prepare(
    `select slot_range from slot_lease where ${RANGE_FREE_CONDITION} and slot_range in (select value from json_each(?4)) order by next_sweep, slot_range limit +?3`,
  )
  const take = database.prepare(
    'update slot_lease set holder = ?, fence = fence + 1, expires_at = ? where slot_range = ? returning slot_range as range, fence',
  )
  const prolong = database.prepare(`update slot_lease set expires_at = ? where ${LEASE_VALID_CONDITION}`)
  const end = database.prepare(`update slot_lease set holder = null, expires_at = null where ${LEASE_VALID_CONDITION}`)
  const sweep = database.prepare(
    `update slot_lease set holder = null, expires_at = null, next_sweep = ?, last_sweep = ?, counts = ? where ${LEASE_VALID_CONDITION}`,
  )
  return {
    lease(now: Instant, holder: string, most: number, ranges?: readonly number[]): Lease[] {
      const key = [now, LEASE_SECONDS, most] as const
      const free = ranges ? among.all(...key, JSON.stringify(ranges)) : due.all(...key)
      return (free as { slot_range: number }[]).map(({ slot_range }) => ({
        ...(take.get(holder, now + LEASE_SECONDS, slot_range) as Lease),
      }))
    },
    renew: (now: Instant, leases: readonly Lease[]): Lease[] =>
      leases.filter(({ range, fence }) => prolong.run(now + LEASE_SECONDS, range, fence).changes === 1),
    release(now: Instant, leases: readonly { lease: Lease; sweep: RangeSweep | null }[]): void {
      for (const { lease, sweep: swept } of leases) {
        const { range, fence } = lease
        if (swept === null) end.run(range, fence)
        else sweep.run(swept.nextSweep, now, JSON.stringify(swept.count), range, fence)
      }
    },
  }
}

type LeaseStateRow = Omit<RangeState, 'count'> & { count: string | null }

export function rangeReads(database: DatabaseSync) {
  const all = database.prepare(
    `select slot_range as range, iif(${RANGE_FREE_CONDITION}, null, holder) as holder,
       iif(${RANGE_FREE_CONDITION}, null, expires_at) as expiresAt, next_sweep as nextSweep, last_sweep as lastSweep, counts as count
     from slot_lease order by slot_range`,
  )
  return {
    ranges: (now: Instant): RangeState[] =>
      (all.all(now, LEASE_SECONDS) as LeaseStateRow[]).map((row) => ({
        ...row,
        count: row.count && JSON.parse(row.count),
      })),
  }
}
