/** Leases of slot ranges on PostgreSQL: the row lock of a range determines its holder. */

import type { Instant } from '../../../values/time.ts'
import { LEASE_SECONDS, type Lease, type RangeState, type Schedule } from '../../port/schedule.ts'
import { plainArray, textArray } from '../database/arrays.ts'
import { clockTableSql } from '../database/clock.ts'
import type { Database } from '../database/database.ts'

/** `$1` the time, null for the server's, `$2` LEASE_SECONDS. */
const LEASE_CLOCK = clockTableSql('$1')
/**
 * The range is free or its lease has expired. An expiry beyond the longest possible one was written before the clock
 * was set back.
 */
const RANGE_IS_FREE = '(l.holder is null or l.expires_at <= now or l.expires_at > now + $2::bigint)'
/** Skips rows that a save has locked because it relies on them. */
const TAKE_LEASES = {
  name: 'lease.take',
  text: `with ${LEASE_CLOCK},
    free as (
      select l.slot_range from slot_lease l, clock where ${RANGE_IS_FREE}
        and case when $5::smallint[] is null then l.next_sweep <= now else l.slot_range = any($5) end
      order by l.next_sweep, l.slot_range limit $4 for update of l skip locked)
    update slot_lease l set holder = $3, fence = l.fence + 1, expires_at = now + $2::bigint from free, clock
    where l.slot_range = free.slot_range returning l.slot_range as range, l.fence, l.next_sweep as "nextSweep"`,
}
/** The valid leases of the arrays `$3` and `$4`, locked in one order. */
const VALID_LEASES = `valid as (
    select l.slot_range from unnest($3::smallint[], $4::bigint[]) k(slot_range, fence)
    join slot_lease l on l.slot_range = k.slot_range and l.fence = k.fence and l.holder is not null
    order by l.slot_range for no key update of l)`
const RENEW_LEASES = {
  name: 'lease.renew',
  text: `with ${LEASE_CLOCK}, ${VALID_LEASES}
    update slot_lease l set expires_at = now + $2::bigint from valid, clock where l.slot_range = valid.slot_range
    returning l.slot_range as range, l.fence`,
}
const RELEASE_LEASES = {
  name: 'lease.release',
  text: `with ${LEASE_CLOCK}, ${VALID_LEASES}
    update slot_lease l set holder = null, expires_at = null, next_sweep = coalesce(k.next_sweep, l.next_sweep),
      counts = coalesce(k.counts, l.counts), last_sweep = case when k.next_sweep is null then l.last_sweep else now end
    from unnest($3::smallint[], $2::bigint[], $5::text[]) k(slot_range, next_sweep, counts), valid, clock
    where l.slot_range = valid.slot_range and k.slot_range = valid.slot_range`,
}
const READ_RANGES = {
  name: 'lease.ranges',
  text: `with ${LEASE_CLOCK}
    select l.slot_range as range, case when not ${RANGE_IS_FREE} then l.holder end as holder,
      case when not ${RANGE_IS_FREE} then l.expires_at end as "expiresAt", l.next_sweep as "nextSweep",
      l.last_sweep as "lastSweep", l.counts as count from slot_lease l, clock order by l.slot_range`,
}

type RangeRow = Omit<RangeState, 'count'> & { count: string | null }

export function postgresLeases({ read, transaction }: Database, now?: () => Instant) {
  const key = (): (number | null)[] => [now?.() ?? null, LEASE_SECONDS]
  return {
    async lease(holder, max, ranges) {
      const values = [...key(), holder, max, ranges ? plainArray(ranges) : null]
      const acquired = await transaction(({ rows }) => rows<Lease & { nextSweep: Instant }>(TAKE_LEASES, values))
      const sorted = acquired.toSorted((a, b) => a.nextSweep - b.nextSweep || a.range - b.range)
      return sorted.map(({ range, fence }) => ({ range, fence }))
    },
    async renew(leases) {
      const renewed = await transaction(({ rows }) => rows<Lease>(RENEW_LEASES, [...key(), ...leaseColumns(leases)]))
      return leases.filter(({ range, fence }) =>
        renewed.some((lease) => lease.range === range && lease.fence === fence),
      )
    },
    release: (leases) =>
      transaction(async ({ run }) => {
        const nextSweeps = plainArray(leases.map(({ sweep }) => sweep?.nextSweep ?? null))
        const counts = textArray(leases.map(({ sweep }) => sweep && JSON.stringify(sweep.count)))
        await run(RELEASE_LEASES, [key()[0], nextSweeps, ...leaseColumns(leases.map(({ lease }) => lease)), counts])
      }),
    ranges: async () =>
      (await read<RangeRow>(READ_RANGES, key())).map((row) => ({ ...row, count: row.count && JSON.parse(row.count) })),
  } satisfies Partial<Schedule>
}

function leaseColumns(leases: readonly Lease[]): string[] {
  return [plainArray(leases.map(({ range }) => range)), plainArray(leases.map(({ fence }) => fence))]
}
