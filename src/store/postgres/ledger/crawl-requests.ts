/** The wishes on PostgreSQL: names that are to be visited soon, and how many each account asked for. */

import { type DomainName, slotRangeOf } from '../../../values/domain-name.ts'
import { addDays } from '../../../values/time.ts'
import type { LookupRequest, CrawlRequests, CrawlRequestKind } from '../../port/crawl-requests.ts'
import { plainArray } from '../database/arrays.ts'
import type { Database } from '../database/database.ts'
import type { Session } from '../database/transaction.ts'

/**
 * Both or none are written. Locked are the wish, then the account, then its counters: one order, so that nobody waits in a
 * circle. `$1` account, `$2` day, `$3` range, `$4` name, `$5` most, `$6` the first day whose counter is kept.
 */
const REQUEST_FROM_LOOKUP = {
  name: 'wish.ask',
  text: `with wished as (
      insert into wish (kind, slots, name) values ('asked', $3, $4) on conflict do nothing returning name),
    counted as (
      insert into asking (account, day, names)
      select a.id, $2, 1 from account a where a.id = $1 and $5::bigint > 0 and exists (select from wished) for key share of a
      on conflict (account, day) do update set names = asking.names + 1 where asking.names < $5 returning names),
    cleared as (delete from asking where account = $1 and day < $6 and exists (select from counted))
    select exists (select from wished) as is_new, exists (select from counted) as is_counted`,
}
const DELETE_REQUEST = {
  name: 'wish.take_back',
  text: `delete from wish where kind = 'asked' and slots = $1 and name = $2`,
}
/** In one order for all. */
const INSERT_REQUESTS = {
  name: 'wish.want',
  text: `insert into wish (kind, slots, name) select $1, slots, name from unnest($2::smallint[], $3::text[]) k(slots, name)
    order by slots, name on conflict do nothing`,
}
const COMPLETE_REQUESTS = {
  name: 'wish.fulfil',
  text: `with done as (
      select w.slots, w.name from unnest($2::smallint[], $3::text[]) k(slots, name)
      join wish w on w.kind = $1 and w.slots = k.slots and w.name = k.name collate "C"
      order by w.slots, w.name for update of w)
    delete from wish w using done where w.kind = $1 and w.slots = done.slots and w.name = done.name`,
}
/** Goes from one range to the next one that has a wish, and over no wish in between. */
const READ_REQUEST_RANGES = {
  name: 'wish.ranges',
  text: `with recursive range (slots) as (
      select min(slots) from wish where kind = $1
      union all select (select min(w.slots) from wish w where w.kind = $1 and w.slots > range.slots) from range
        where slots is not null)
    select slots from range where slots is not null`,
}
const READ_REQUESTS_IN_RANGE = {
  name: 'wish.wanted',
  text: 'select name from wish where kind = $1 and slots = $2 order by name limit $3',
}
const COUNT_REQUESTS = { name: 'wish.count', text: 'select count(*) as names from wish where kind = $1' }

export function postgresCrawlRequests({ read, readLong, transaction }: Database): CrawlRequests {
  const write = (statement: { name: string; text: string }, kind: CrawlRequestKind, names: readonly DomainName[]): Promise<void> =>
    transaction(async ({ run }) => void (await run(statement, [kind, ...requestColumns(names)])))
  return {
    requestFromLookup: (question) => transaction((session) => requestFromLookup(session, question)),
    add: (kind, names) => write(INSERT_REQUESTS, kind, names),
    ranges: async (kind) => (await read<{ slots: number }>(READ_REQUEST_RANGES, [kind])).map(({ slots }) => slots),
    inRange: async (kind, range, limit) =>
      (await read<{ name: DomainName }>(READ_REQUESTS_IN_RANGE, [kind, range, limit])).map(({ name }) => name),
    count: async (kind) => (await readLong<{ names: number }>(COUNT_REQUESTS, [kind]))[0]!.names,
    complete: (kind, names) => write(COMPLETE_REQUESTS, kind, names),
  }
}

async function requestFromLookup({ rows, run }: Session, { account, day, name, maxPerDay: most }: LookupRequest): Promise<boolean> {
  const values = [account, day, slotRangeOf(name), name, most, addDays(day, -1)] // another process may still be in the day before
  const [requested] = await rows<{ is_new: boolean; is_counted: boolean }>(REQUEST_FROM_LOOKUP, values)
  const { is_new, is_counted } = requested!
  if (is_new && !is_counted) await run(DELETE_REQUEST, [slotRangeOf(name), name])
  return is_counted || !is_new
}

function requestColumns(names: readonly DomainName[]): string[] {
  return [plainArray(names.map(slotRangeOf)), plainArray(names)]
}
