/** The wishes on SQLite: names that are to be visited soon, and how many each account asked for. */

import type { DatabaseSync } from 'node:sqlite'
import { type DomainName, slotRangeOf } from '../../../values/domain-name.ts'
import { addDays, type Instant } from '../../../values/time.ts'
import type { LookupRequest, CrawlRequestKind } from '../../port/crawl-requests.ts'

/** Goes from one range to the next one that has a wish, and over no wish in between. */
const REQUEST_RANGES = `with recursive range (slots) as (
    select min(slots) from wish where kind = ?1
    union all select (select min(slots) from wish where kind = ?1 and slots > range.slots) from range where slots is not null)
  select slots from range where slots is not null`

export function crawlRequestReads(database: DatabaseSync) {
  const ranges = database.prepare(REQUEST_RANGES)
  const wanted = database.prepare('select name from wish where kind = ? and slots = ? order by name limit +?')
  const count = database.prepare('select count(*) as names from wish where kind = ?')
  return {
    ranges: (kind: CrawlRequestKind): number[] => (ranges.all(kind) as { slots: number }[]).map(({ slots }) => slots),
    wanted: (kind: CrawlRequestKind, range: number, limit: number): DomainName[] =>
      (wanted.all(kind, range, limit) as { name: DomainName }[]).map(({ name }) => name),
    count: (kind: CrawlRequestKind): number => (count.get(kind) as { names: number }).names,
  }
}

export function crawlRequestWrites(database: DatabaseSync) {
  const insert = database.prepare('insert into wish (kind, slots, name) values (?, ?, ?) on conflict do nothing')
  const remove = database.prepare('delete from wish where kind = ? and slots = ? and name = ?')
  return {
    ask: lookupRequester(database),
    want(_now: Instant, kind: CrawlRequestKind, names: readonly DomainName[]): void {
      for (const name of names) insert.run(kind, slotRangeOf(name), name)
    },
    fulfil(_now: Instant, kind: CrawlRequestKind, names: readonly DomainName[]): void {
      for (const name of names) remove.run(kind, slotRangeOf(name), name)
    },
  }
}

function lookupRequester(database: DatabaseSync) {
  const isWanted = database.prepare(`select 1 from wish where kind = 'asked' and slots = ? and name = ?`)
  const insert = database.prepare(`insert into wish (kind, slots, name) values ('asked', ?, ?)`)
  /** Changes nothing where the account has none left, or is gone. */
  const count = database.prepare(
    `insert into asking (account, day, names) select id, ?2, 1 from account where id = ?1 and ?3 > 0
     on conflict do update set names = names + 1 where names < ?3`,
  )
  const clear = database.prepare('delete from asking where account = ? and day < ?')
  return (_now: Instant, { account, day, name, maxPerDay: most }: LookupRequest): boolean => {
    if (isWanted.get(slotRangeOf(name), name)) return true
    if (count.run(account, day, most).changes === 0) return false
    insert.run(slotRangeOf(name), name)
    clear.run(account, addDays(day, -1)) // another process may still be in the day before
    return true
  }
}
