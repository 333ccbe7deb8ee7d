/** Leases of ranges of slots on PostgreSQL: whoever has a range's row locked decides whose it is. */

import type { Instant } from '../../../values/time.ts'
import { LEASE_SECONDS, type Lease, type RangeState, type Schedule } from '../../port/schedule.ts'
import { plainArray, textArray } from '../database/arrays.ts'
import { clockTableSql } from '../database/clock.ts'
import type { Database } from '../database/database.ts'

/** `$1` the time, null for the server's, `$2` LEASE_SECONDS. */
const LEASE_CLOCK = clockTableSql('$1')
/** Nobody has it, or whoever has it was silent too long; one that ends later than any was made before the clock was set back. */
const RANGE_IS_FREE = '(l.holder is null or l.until <= now or l.until > now + $2::bigint)'
/** Rows that a save relies on are locked by it, and passed over. */
const TAKE_LEASES = {
  name: 'lease.take',
  text: `with ${LEASE_CLOCK},
    free as (
      select l.slots from lease l, clock where ${RANGE_IS_FREE} and case when $5::smallint[] is null then l.next <= now else l.slots = any($5) end
      order by l.next, l.slots limit $4 for update of l skip locked)
    update lease l set holder = $3, fence = l.fence + 1, until = now + $2::bigint from free, clock where l.slots = free.slots
    returning l.slots as range, l.fence, l.next`,
}
/** The leases of the arrays `$3` and `$4` that stand, locked in one order. */
const VALID_LEASES = `standing as (
    select l.slots from unnest($3::smallint[], $4::bigint[]) k(slots, fence)
    join lease l on l.slots = k.slots and l.fence = k.fence and l.holder is not null order by l.slots for no key update of l)`
const RENEW_LEASES = {
  name: 'lease.renew',
  text: `with ${LEASE_CLOCK}, ${VALID_LEASES}
    update lease l set until = now + $2::bigint from standing, clock where l.slots = standing.slots
    returning l.slots as range, l.fence`,
}
const RELEASE_LEASES = {
  name: 'lease.release',
  text: `with ${LEASE_CLOCK}, ${VALID_LEASES}
    update lease l set holder = null, until = null, next = coalesce(k.next, l.next), count = coalesce(k.count, l.count),
      swept = case when k.next is null then l.swept else now end
    from unnest($3::smallint[], $2::bigint[], $5::text[]) k(slots, next, count), standing, clock
    where l.slots = standing.slots and k.slots = standing.slots`,
}
const READ_RANGES = {
  name: 'lease.ranges',
  text: `with ${LEASE_CLOCK}
    select l.slots as range, case when not ${RANGE_IS_FREE} then l.holder end as holder, case when not ${RANGE_IS_FREE} then l.until end as until,
      l.next, l.swept, l.count from lease l, clock order by l.slots`,
}

type RangeRow = Omit<RangeState, 'count'> & { count: string | null }

export function postgresLeases({ read, transaction }: Database, now?: () => Instant) {
  const key = (): (number | null)[] => [now?.() ?? null, LEASE_SECONDS]
  return {
    async lease(holder, most, ranges) {
      const values = [...key(), holder, most, ranges ? plainArray(ranges) : null]
      const taken = await transaction(({ rows }) => rows<Lease & { next: Instant }>(TAKE_LEASES, values))
      const sorted = taken.toSorted((a, b) => a.next - b.next || a.range - b.range)
      return sorted.map(({ range, fence }) => ({ range, fence }))
    },
    async renew(leases) {
      const renewed = await transaction(({ rows }) => rows<Lease>(RENEW_LEASES, [...key(), ...leaseColumns(leases)]))
      return leases.filter(({ range, fence }) => renewed.some((each) => each.range === range && each.fence === fence))
    },
    release: (leases) =>
      transaction(async ({ run }) => {
        const next = plainArray(leases.map(({ sweep }) => sweep?.nextSweep ?? null))
        const count = textArray(leases.map(({ sweep }) => sweep && JSON.stringify(sweep.count)))
        await run(RELEASE_LEASES, [key()[0], next, ...leaseColumns(leases.map(({ lease }) => lease)), count])
      }),
    ranges: async () =>
      (await read<RangeRow>(READ_RANGES, key())).map((row) => ({ ...row, count: row.count && JSON.parse(row.count) })),
  } satisfies Partial<Schedule>
}

function leaseColumns(leases: readonly Lease[]): string[] {
  return [plainArray(leases.map(({ range }) => range)), plainArray(leases.map(({ fence }) => fence))]
}
