/** The reads of the crawl requests. The engines write them. */

import type { DomainName } from '../../values/domain-name.ts'
import { type CrawlRequests, MAX_COUNTED_REQUESTS } from '../port/crawl-requests.ts'
import { type LedgerRead, ledgerStatements } from './session.ts'

export const CRAWL_REQUESTS = ledgerStatements('crawl-request', {
  /** Jumps from one range with requests to the next, without reading the requests in between. */
  ranges: `with recursive range (number) as (
      select min(slot_range) from crawl_request where kind = $1
      union all select (select min(r.slot_range) from crawl_request r where r.kind = $1 and r.slot_range > range.number)
        from range where number is not null)
    select number from range where number is not null`,
  inRange: 'select name from crawl_request where kind = $1 and slot_range = $2 order by name limit $3',
  count: `select count(*) as requests from (select 1 from crawl_request where kind = $1 limit ${MAX_COUNTED_REQUESTS}) as counted`,
})

/** `readLong`: for the statement that takes milliseconds. */
export function crawlRequestReads(read: LedgerRead, readLong: LedgerRead) {
  return {
    ranges: async (kind) => (await read<{ number: number }>(CRAWL_REQUESTS.ranges, [kind])).map(({ number }) => number),
    inRange: async (kind, range, limit) =>
      (await read<{ name: DomainName }>(CRAWL_REQUESTS.inRange, [kind, range, limit])).map(({ name }) => name),
    count: async (kind) => (await readLong<{ requests: number }>(CRAWL_REQUESTS.count, [kind]))[0]!.requests,
  } satisfies Partial<CrawlRequests>
}
