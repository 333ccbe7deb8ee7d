/** The writes of crawl requests on SQLite, and the number of requests of each account. */

import type { DatabaseSync } from 'node:sqlite'
import { type DomainName, slotRangeOf } from '../../../values/domain-name.ts'
import { addDays, type Instant } from '../../../values/time.ts'
import type { CrawlRequestKind, LookupRequest } from '../../port/crawl-requests.ts'

export function crawlRequestWrites(database: DatabaseSync) {
  const insert = database.prepare(
    'insert into crawl_request (kind, slot_range, name) values (?, ?, ?) on conflict do nothing',
  )
  const remove = database.prepare('delete from crawl_request where kind = ? and slot_range = ? and name = ?')
  return {
    requestFromLookup: lookupRequester(database),
    add(_now: Instant, kind: CrawlRequestKind, names: readonly DomainName[]): void {
      for (const name of names) insert.run(kind, slotRangeOf(name), name)
    },
    complete(_now: Instant, kind: CrawlRequestKind, names: readonly DomainName[]): void {
      for (const name of names) remove.run(kind, slotRangeOf(name), name)
    },
  }
}

function lookupRequester(database: DatabaseSync) {
  const readRequest = database.prepare(
    `select 1 from crawl_request where kind = 'lookup' and slot_range = ? and name = ?`,
  )
  const insert = database.prepare(`insert into crawl_request (kind, slot_range, name) values ('lookup', ?, ?)`)
  /** Changes nothing if the account has reached its maximum or does not exist. */
  const count = database.prepare(
    `insert into lookup_request_count (account, day, requests) select id, ?2, 1 from account where id = ?1 and ?3 > 0
     on conflict do update set requests = requests + 1 where requests < ?3`,
  )
  const clear = database.prepare('delete from lookup_request_count where account = ? and day < ?')
  return (_now: Instant, { account, day, name, maxPerDay }: LookupRequest): boolean => {
    if (readRequest.get(slotRangeOf(name), name)) return true
    if (count.run(account, day, maxPerDay).changes === 0) return false
    insert.run(slotRangeOf(name), name)
    clear.run(account, addDays(day, -1)) // another process may still be on the previous day
    return true
  }
}
