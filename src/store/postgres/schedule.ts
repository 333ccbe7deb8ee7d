/** The schedule on PostgreSQL: who has which range of slots, which names are due, and who crawls. */

import { type Name, slotOf } from '../../words/name.ts'
import type { Instant } from '../../words/time.ts'
import { unpackVisit, VISIT_COLUMNS, type VisitRow } from '../columns.ts'
import { countColumns, countOf } from '../count.ts'
import { type Heard, LEASE_SECONDS, OUTCOME_SECONDS, type Outcomes, type Schedule } from '../schedule.ts'
import { addressArray, plainArray } from './arrays.ts'
import { clockAt } from './clock.ts'
import type { Database } from './database.ts'
import { leasesOf } from './leases.ts'
import { addressPart } from './part.ts'

const SOME = `from visit where part between ($1::integer >> 8)::smallint and ($2::integer >> 8)::smallint
  and (part, slot) >= (($1 >> 8)::smallint, $1) and (part, slot) <= (($2 >> 8)::smallint, $2) and id is distinct from 0`
const DUE = {
  name: 'schedule.due',
  text: `select name, ${VISIT_COLUMNS} ${SOME} and due <= $3::bigint order by part, slot, name`,
}
const COUNT = {
  name: 'schedule.count',
  text: `select ${countColumns('$3::bigint')} ${SOME}`,
  rowMode: 'array',
} as const
const NAMES = {
  name: 'schedule.names',
  text: `select name from visit where (part, slot, name) > (($1::integer >> 8)::smallint, $1, $2) and id is distinct from 0
    order by part, slot, name limit $3`,
}
const CROWDS = {
  name: 'schedule.crowds',
  text: `select coalesce(a.names, 0) as names from unnest($1::bytea[]) with ordinality k(address, place)
    left join address a on a.part = ${addressPart('k.address')} and a.address = k.address order by k.place`,
}

/** `now`: the server's clock by default. */
export function scheduleOf(database: Database, now?: () => Instant): Schedule {
  const { read, snapshot } = database
  return {
    ...leasesOf(database, now),
    ...crawlersOf(database, now),
    ...outcomesOf(database, now),
    due: (from, to, at) =>
      snapshot(async ({ rows }) => {
        const key = [from, to, at]
        const [due, [count]] = await Promise.all([
          rows<VisitRow & { name: Name }>(DUE, key),
          rows<(number | null)[]>(COUNT, key),
        ])
        return { visits: due.map((row) => unpackVisit(row.name, row)), count: countOf(count!) }
      }),
    async names(after, limit) {
      const rows = await read<{ name: Name }>(NAMES, [after === null ? -1 : slotOf(after), after ?? '', limit])
      return rows.map(({ name }) => name)
    },
    crowds: async (addresses) =>
      (await read<{ names: number }>(CROWDS, [addressArray(addresses)])).map(({ names }) => names),
  }
}

const HEAR = {
  name: 'crawler.hear',
  text: `with ${clockAt('$1')} insert into crawler (holder, heard, report) select $2, now, $3 from clock
    on conflict (holder) do update set heard = excluded.heard, report = excluded.report`,
}
const END = { name: 'crawler.end', text: 'delete from crawler where holder = $1' }
/** One that was heard of later was so before the clock was set back. */
const ALIVE = 'heard > now - $2::bigint and heard <= now + $2::bigint'
const DROP = {
  name: 'crawler.drop',
  text: `with ${clockAt('$1')},
    silent as (select holder from crawler, clock where not (${ALIVE}) order by 1 for update of crawler skip locked)
    delete from crawler using silent where crawler.holder = silent.holder`,
}
const ALL = {
  name: 'crawler.all',
  text: `with ${clockAt('$1')} select holder, heard, report from crawler, clock where ${ALIVE} order by holder`,
}

function crawlersOf({ read, transaction }: Database, now?: () => Instant) {
  return {
    async beat(holder, report) {
      const key = [now?.() ?? null, LEASE_SECONDS]
      await transaction(async ({ run }) => {
        const said = report === null ? run(END, [holder]) : run(HEAR, [key[0], holder, report])
        await Promise.all([said, run(DROP, key)])
      })
      // counted once it is committed, so that of those that beat at the same time the last one sees all
      return (await read<Heard>(ALL, key)).length
    },
    crawlers: () => read<Heard>(ALL, [now?.() ?? null, LEASE_SECONDS]),
  } satisfies Partial<Schedule>
}

/** Rows that are kept still, in one order for all crawlers. */
const ADD = {
  name: 'outcome.add',
  text: `with ${clockAt('$1')}
    insert into outcome (hour, kind, visits, servfail, nxdomain, none)
    select hour, kind, sum(visits), sum(servfail), sum(nxdomain), sum(none)
    from unnest($3::bigint[], $4::text[], $5::bigint[], $6::bigint[], $7::bigint[], $8::bigint[])
      k(hour, kind, visits, servfail, nxdomain, none), clock
    where hour >= now - $2::bigint group by 1, 2 order by 1, 2
    on conflict (hour, kind) do update set visits = outcome.visits + excluded.visits,
      servfail = outcome.servfail + excluded.servfail, nxdomain = outcome.nxdomain + excluded.nxdomain,
      none = outcome.none + excluded.none`,
}
/** Whoever is at it already leaves nothing to do for the others. */
const CLEAR = {
  name: 'outcome.clear',
  text: `with ${clockAt('$1')},
    old as (select hour, kind from outcome, clock where hour < now - $2::bigint order by 1, 2 for update of outcome skip locked)
    delete from outcome using old where outcome.hour = old.hour and outcome.kind = old.kind`,
}
const SINCE = {
  name: 'outcome.since',
  text: 'select hour, kind, visits, servfail, nxdomain, none from outcome where hour >= $1 order by hour, kind',
}

function outcomesOf({ read, transaction }: Database, now?: () => Instant) {
  const keys = ['hour', 'kind', 'visits', 'servfail', 'nxdomain', 'none'] as const
  return {
    add: (outcomes) =>
      transaction(async ({ run }) => {
        const key = [now?.() ?? null, OUTCOME_SECONDS]
        const columns = keys.map((column) => plainArray(outcomes.map((outcome) => outcome[column])))
        await Promise.all([run(ADD, [...key, ...columns]), run(CLEAR, key)])
      }),
    outcomes: (since) => read<Outcomes>(SINCE, [since]),
  } satisfies Partial<Schedule>
}
