/** The schedule on PostgreSQL: leases of slot ranges, due names, and live crawlers. */

import { type DomainName, slotOf } from '../../../values/domain-name.ts'
import type { IpAddress } from '../../../values/ip-address.ts'
import type { Instant } from '../../../values/time.ts'
import {
  type CrawlerHeartbeat,
  LEASE_SECONDS,
  OUTCOME_SECONDS,
  type OutcomeCount,
  type Schedule,
} from '../../port/schedule.ts'
import { CRAWL_STATE_COLUMNS, type CrawlStateRow, TOMBSTONE_ID, unpackCrawlState } from '../../shared/columns.ts'
import { slotCountColumns, unpackSlotCount } from '../../shared/slot-count.ts'
import { addressArray, plainArray } from '../database/arrays.ts'
import { inRunSql, partRuns, readRuns, runValues } from '../database/citus/part-runs.ts'
import { clockTableSql } from '../database/clock.ts'
import type { Database } from '../database/database.ts'
import { partitionOfAddress, partitionOfName, partitionOfSlot, slotPartitionSql } from '../database/partition.ts'
import { inShardSql } from '../database/shards.ts'
import { postgresLeases } from './leases.ts'

const [FIRST_PART, LAST_PART] = [slotPartitionSql('$1::integer'), slotPartitionSql('$2::integer')]
const SLOTS_BETWEEN = `from crawl_state where ${inRunSql('part', 4)}
  and (part, slot) >= (${FIRST_PART}, $1) and (part, slot) <= (${LAST_PART}, $2) and id is distinct from ${TOMBSTONE_ID}`
const READ_DUE = {
  name: 'schedule.due',
  text: `select name, ${CRAWL_STATE_COLUMNS} ${SLOTS_BETWEEN} and due <= $3::bigint order by part, slot, name`,
}
const COUNT_SLOTS = {
  name: 'schedule.count',
  text: `select ${slotCountColumns('$3::bigint')} ${SLOTS_BETWEEN}`,
  rowMode: 'array',
} as const
const READ_NAMES = {
  name: 'schedule.names',
  text: `select name from crawl_state where (part, slot, name) > ($1, $2, $3) and ${inRunSql('part', 5)}
    and id is distinct from ${TOMBSTONE_ID} order by part, slot, name limit $4`,
}
const READ_NAME_COUNTS = {
  name: 'schedule.name-counts',
  text: `select k.position, a.names from unnest($1::smallint[], $2::bytea[]) with ordinality k(part, address, position)
    join address_count a on a.part = k.part and a.address = k.address and ${inShardSql('a.part', 3)}`,
}

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
      const counts = new Map<IpAddress, number>()
      for (const { parts, rows } of (await shards()).batches(addresses, partitionOfAddress)) {
        const key = [plainArray(rows.map(partitionOfAddress)), addressArray(rows), parts]
        for (const { position, names } of await read<{ position: number; names: number }>(READ_NAME_COUNTS, key))
          counts.set(rows[position - 1]!, names)
      }
      return addresses.map((address) => counts.get(address) ?? 0)
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
