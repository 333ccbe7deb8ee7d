/** The crawl requests on PostgreSQL: names to probe soon, and how many each account requested. */

import { type DomainName, slotRangeOf } from '../../../values/domain-name.ts'
import { addDays } from '../../../values/time.ts'
import { crawlRequestReads } from '../../ledger/crawl-requests.ts'
import type { LedgerRead } from '../../ledger/session.ts'
import type { CrawlRequestKind, CrawlRequests, LookupRequest } from '../../port/crawl-requests.ts'
import { plainArray } from '../database/arrays.ts'
import type { Database } from '../database/database.ts'
import type { Session } from '../database/transaction.ts'
import { postgresLedgerRead } from './session.ts'

/**
 * Writes both rows or none. It locks the request, then the account, then its counters: in one order, so that no two
 * writers wait for each other. `$1` account, `$2` day, `$3` range, `$4` name, `$5` maximum per day, `$6` the first day
 * whose counter is kept.
 */
const REQUEST_FROM_LOOKUP = {
  name: 'request.from-lookup',
  text: `with requested as (
      insert into crawl_request (kind, slot_range, name) values ('lookup', $3, $4) on conflict do nothing returning name),
    counted as (
      insert into lookup_request_count (account, day, requests)
      select a.id, $2, 1 from account a where a.id = $1 and $5::bigint > 0 and exists (select from requested) for key share of a
      on conflict (account, day) do update set requests = lookup_request_count.requests + 1
      where lookup_request_count.requests < $5 returning requests),
    cleared as (delete from lookup_request_count where account = $1 and day < $6 and exists (select from counted))
    select exists (select from requested) as is_new, exists (select from counted) as is_counted`,
}
const DELETE_REQUEST = {
  name: 'request.delete',
  text: `delete from crawl_request where kind = 'lookup' and slot_range = $1 and name = $2`,
}
/** Inserts in the same order for all writers. */
const INSERT_REQUESTS = {
  name: 'request.add',
  text: `insert into crawl_request (kind, slot_range, name)
    select $1, slot_range, name from unnest($2::smallint[], $3::text[]) k(slot_range, name)
    order by slot_range, name on conflict do nothing`,
}
const COMPLETE_REQUESTS = {
  name: 'request.complete',
  text: `with completed as (
      select r.slot_range, r.name from unnest($2::smallint[], $3::text[]) k(slot_range, name)
      join crawl_request r on r.kind = $1 and r.slot_range = k.slot_range and r.name = k.name collate "C"
      order by r.slot_range, r.name for update of r)
    delete from crawl_request r using completed c where r.kind = $1 and r.slot_range = c.slot_range and r.name = c.name`,
}
export function postgresCrawlRequests({ readLong, transaction }: Database, read: LedgerRead): CrawlRequests {
  const write = (
    statement: { name: string; text: string },
    kind: CrawlRequestKind,
    names: readonly DomainName[],
  ): Promise<void> => transaction(async ({ run }) => void (await run(statement, [kind, ...requestColumns(names)])))
  return {
    requestFromLookup: (request) => transaction((session) => requestFromLookup(session, request)),
    add: (kind, names) => write(INSERT_REQUESTS, kind, names),
    ...crawlRequestReads(read, postgresLedgerRead(readLong)),
    complete: (kind, names) => write(COMPLETE_REQUESTS, kind, names),
  }
}

async function requestFromLookup(
  { rows, run }: Session,
  { account, day, name, maxPerDay }: LookupRequest,
): Promise<boolean> {
  // another process may still be on the previous day
  const values = [account, day, slotRangeOf(name), name, maxPerDay, addDays(day, -1)]
  const [requested] = await rows<{ is_new: boolean; is_counted: boolean }>(REQUEST_FROM_LOOKUP, values)
  const { is_new, is_counted } = requested!
  if (is_new && !is_counted) await run(DELETE_REQUEST, [slotRangeOf(name), name])
  return is_counted || !is_new
}

function requestColumns(names: readonly DomainName[]): string[] {
  return [plainArray(names.map(slotRangeOf)), plainArray(names)]
}
