/** The schedule on PostgreSQL: leases of slot ranges, due names, and live crawlers. */

import { type DomainName, slotOf } from '../../../values/domain-name.ts'
import { packAddress } from '../../../values/ip-address.ts'
import type { Instant } from '../../../values/time.ts'
import {
  type CrawlerHeartbeat,
  LEASE_SECONDS,
  type Lease,
  OUTCOME_SECONDS,
  type OutcomeCount,
  type RangeState,
  type Schedule,
} from '../../port/schedule.ts'
import { CRAWL_STATE_COLUMNS, type CrawlStateRow, TOMBSTONE_ID, unpackCrawlState } from '../../shared/columns.ts'
import { slotCountColumns, unpackSlotCount } from '../../shared/slot-count.ts'
import { plainArray, textArray } from '../database/arrays.ts'
import { partRuns, readRuns, runValues } from '../database/citus/part-runs.ts'
import { clockTableSql } from '../database/clock.ts'
import type { Database } from '../database/database.ts'
import { partitionOfAddress, partitionOfName, partitionOfSlot, slotPartitionSql } from '../database/partition.ts'
import { matchRows, rowStatement, runStatement } from '../database/row-statements.ts'

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

const [FIRST_PART, LAST_PART] = [slotPartitionSql('$1::integer'), slotPartitionSql('$2::integer')]
const slotsBetween = (inRun: string): string => `from crawl_state where ${inRun}
  and (part, slot) >= (${FIRST_PART}, $1) and (part, slot) <= (${LAST_PART}, $2) and id is distinct from ${TOMBSTONE_ID}`
const READ_DUE = runStatement(
  'schedule.due',
  3,
  ({ inRun }) =>
    `select name, ${CRAWL_STATE_COLUMNS} ${slotsBetween(inRun('part'))} and due <= $3::bigint order by part, slot, name`,
)
const COUNT_SLOTS = {
  ...runStatement(
    'schedule.count',
    3,
    ({ inRun }) => `select ${slotCountColumns('$3::bigint')} ${slotsBetween(inRun('part'))}`,
  ),
  rowMode: 'array',
} as const
const READ_NAMES = runStatement(
  'schedule.names',
  4,
  ({ inRun }) =>
    `select name from crawl_state where (part, slot, name) > ($1, $2, $3) and ${inRun('part')}
    and id is distinct from ${TOMBSTONE_ID} order by part, slot, name limit $4`,
)
const READ_NAME_COUNTS = rowStatement<{ part: number; address: Uint8Array }>(
  'schedule.name-counts',
  { part: 'smallint', address: 'bytes' },
  ({ numberedRows, inShard }) =>
    `select k.position, a.names from ${numberedRows}
    join address_count a on a.part = k.part and a.address = k.address and ${inShard('a.part')}`,
)

/** `now`: defaults to the server's clock. */
export function postgresSchedule(database: Database, now?: () => Instant): Schedule {
  const { read, shards } = database
  return {
    ...postgresLeases(database, now),
    ...postgresCrawlers(database, now),
    ...postgresOutcomes(database, now),
    due: (from, to, at) => readDue(database, [from, to, at]),
    async names(after, limit) {
      const part = after === null ? null : partitionOfName(after)
      const key = after === null ? [-1, -1, ''] : [part, slotOf(after), after]
      const rows = await readRuns(await shards(), part, limit, (run, max) =>
        read<{ name: DomainName }>(READ_NAMES, [...key, max, ...run]),
      )
      return rows.map(({ name }) => name)
    },
    async nameCounts(addresses) {
      const keys = addresses.map((address) => ({ part: partitionOfAddress(address), address: packAddress(address) }))
      type Count = { position: number; names: number }
      const found = await matchRows<Count, (typeof keys)[number]>(read, await shards(), READ_NAME_COUNTS, keys)
      const counts = new Map(found.map(({ row, result }) => [row, result.names]))
      return keys.map((key) => counts.get(key) ?? 0)
    },
  }
}

/** Reads the due names and the count of slots on one snapshot. */
async function readDue({ snapshot, shards }: Database, key: [from: number, to: number, at: Instant]) {
  const runs = partRuns(await shards(), partitionOfSlot(key[0]), partitionOfSlot(key[1]))
  return snapshot(async ({ rows }) => {
    const [due, counts]: [(CrawlStateRow & { name: DomainName })[], (number | null)[][]] = [[], []]
    for (const run of runs) {
      const values = [...key, ...runValues(run)]
      const [states, [count]] = await Promise.all([
        rows<CrawlStateRow & { name: DomainName }>(READ_DUE, values),
        rows<(number | null)[]>(COUNT_SLOTS, values),
      ])
      due.push(...states)
      counts.push(count!)
    }
    return { states: due.map((row) => unpackCrawlState(row.name, row)), count: unpackSlotCount(sumCounts(counts)) }
  })
}

/** The column of `slotCountColumns` that is a minimum. The others are numbers of names. */
const NEXT_COLUMN = 4

/** The count of several runs. */
function sumCounts(counts: readonly (readonly (number | null)[])[]): (number | null)[] {
  return counts.reduce((sum, count) =>
    sum.map((value, column) => {
      const other = count[column]!
      if (column !== NEXT_COLUMN) return value! + other
      return value === null || (other !== null && other < value) ? other : value
    }),
  ) as (number | null)[]
}

const CRAWLER_HEARTBEAT = {
  name: 'crawler.heartbeat',
  text: `with ${clockTableSql('$1')} insert into crawler (holder, heartbeat_at, report) select $2, now, $3 from clock
    on conflict (holder) do update set heartbeat_at = excluded.heartbeat_at, report = excluded.report`,
}
const DELETE_CRAWLER = { name: 'crawler.delete', text: 'delete from crawler where holder = $1' }
/** A later heartbeat was recorded before the clock was set back. */
const CRAWLER_IS_ALIVE = 'heartbeat_at > now - $2::bigint and heartbeat_at <= now + $2::bigint'
const DELETE_DEAD_CRAWLERS = {
  name: 'crawler.delete-dead',
  text: `with ${clockTableSql('$1')},
    dead as (select holder from crawler, clock where not (${CRAWLER_IS_ALIVE}) order by 1 for update of crawler skip locked)
    delete from crawler using dead where crawler.holder = dead.holder`,
}
const READ_CRAWLERS = {
  name: 'crawler.all',
  text: `with ${clockTableSql('$1')} select holder, heartbeat_at as "heartbeatAt", report from crawler, clock
    where ${CRAWLER_IS_ALIVE} order by holder`,
}

function postgresCrawlers({ read, transaction }: Database, now?: () => Instant) {
  return {
    async heartbeat(holder, report) {
      const key = [now?.() ?? null, LEASE_SECONDS]
      await transaction(async ({ run }) => {
        const written =
          report === null ? run(DELETE_CRAWLER, [holder]) : run(CRAWLER_HEARTBEAT, [key[0], holder, report])
        await Promise.all([written, run(DELETE_DEAD_CRAWLERS, key)])
      })
      // count after the commit, so that of concurrent heartbeats the last one counts all
      return (await read<CrawlerHeartbeat>(READ_CRAWLERS, key)).length
    },
    crawlers: () => read<CrawlerHeartbeat>(READ_CRAWLERS, [now?.() ?? null, LEASE_SECONDS]),
  } satisfies Partial<Schedule>
}

/** Adds to hours that are still stored, in one order for all crawlers. */
const ADD_OUTCOMES = {
  name: 'probe-outcome.add',
  text: `with ${clockTableSql('$1')}
    insert into probe_outcome (hour, kind, probes, servfail, nxdomain, no_website)
    select hour, kind, sum(probes), sum(servfail), sum(nxdomain), sum(no_website)
    from unnest($3::bigint[], $4::text[], $5::bigint[], $6::bigint[], $7::bigint[], $8::bigint[])
      k(hour, kind, probes, servfail, nxdomain, no_website), clock
    where hour >= now - $2::bigint group by 1, 2 order by 1, 2
    on conflict (hour, kind) do update set probes = probe_outcome.probes + excluded.probes,
      servfail = probe_outcome.servfail + excluded.servfail, nxdomain = probe_outcome.nxdomain + excluded.nxdomain,
      no_website = probe_outcome.no_website + excluded.no_website`,
}
/** Skips rows that another crawler is deleting. */
const DELETE_OLD_OUTCOMES = {
  name: 'probe-outcome.delete-old',
  text: `with ${clockTableSql('$1')},
    old as (
      select hour, kind from probe_outcome, clock where hour < now - $2::bigint
      order by 1, 2 for update of probe_outcome skip locked)
    delete from probe_outcome o using old where o.hour = old.hour and o.kind = old.kind`,
}
const READ_OUTCOMES = {
  name: 'probe-outcome.since',
  text: `select hour, kind, probes, servfail, nxdomain, no_website as "noWebsite" from probe_outcome
    where hour >= $1 order by hour, kind`,
}

function postgresOutcomes({ read, transaction }: Database, now?: () => Instant) {
  const keys = ['hour', 'kind', 'probes', 'servfail', 'nxdomain', 'noWebsite'] as const
  return {
    addOutcomes: (outcomes) =>
      transaction(async ({ run }) => {
        const key = [now?.() ?? null, OUTCOME_SECONDS]
        const columns = keys.map((column) => plainArray(outcomes.map((outcome) => outcome[column])))
        await Promise.all([run(ADD_OUTCOMES, [...key, ...columns]), run(DELETE_OLD_OUTCOMES, key)])
      }),
    outcomes: (since) => read<OutcomeCount>(READ_OUTCOMES, [since]),
  } satisfies Partial<Schedule>
}

/** Leases of slot ranges on PostgreSQL: the row lock of a range determines its holder. */
function postgresLeases({ read, transaction }: Database, now?: () => Instant) {
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
