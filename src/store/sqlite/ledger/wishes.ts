/** The wishes on SQLite: names that are to be visited soon, and how many each account asked for. */

import type { DatabaseSync } from 'node:sqlite'
import { type Name, rangeOf } from '../../../words/name.ts'
import { addDays, type Instant } from '../../../words/time.ts'
import type { Question, WishKind } from '../../wishes.ts'

/** Goes from one range to the next one that has a wish, and over no wish in between. */
const RANGES = `with recursive range (slots) as (
    select min(slots) from wish where kind = ?1
    union all select (select min(slots) from wish where kind = ?1 and slots > range.slots) from range where slots is not null)
  select slots from range where slots is not null`

export function wishReads(database: DatabaseSync) {
  const ranges = database.prepare(RANGES)
  const wanted = database.prepare('select name from wish where kind = ? and slots = ? order by name limit +?')
  const count = database.prepare('select count(*) as names from wish where kind = ?')
  return {
    ranges: (kind: WishKind): number[] => (ranges.all(kind) as { slots: number }[]).map(({ slots }) => slots),
    wanted: (kind: WishKind, range: number, limit: number): Name[] =>
      (wanted.all(kind, range, limit) as { name: Name }[]).map(({ name }) => name),
    count: (kind: WishKind): number => (count.get(kind) as { names: number }).names,
  }
}

export function wishWrites(database: DatabaseSync) {
  const insert = database.prepare('insert into wish (kind, slots, name) values (?, ?, ?) on conflict do nothing')
  const remove = database.prepare('delete from wish where kind = ? and slots = ? and name = ?')
  return {
    ask: asker(database),
    want(_now: Instant, kind: WishKind, names: readonly Name[]): void {
      for (const name of names) insert.run(kind, rangeOf(name), name)
    },
    fulfil(_now: Instant, kind: WishKind, names: readonly Name[]): void {
      for (const name of names) remove.run(kind, rangeOf(name), name)
    },
  }
}

function asker(database: DatabaseSync) {
  const isWanted = database.prepare(`select 1 from wish where kind = 'asked' and slots = ? and name = ?`)
  const insert = database.prepare(`insert into wish (kind, slots, name) values ('asked', ?, ?)`)
  /** Changes nothing where the account has none left, or is gone. */
  const count = database.prepare(
    `insert into asking (account, day, names) select id, ?2, 1 from account where id = ?1 and ?3 > 0
     on conflict do update set names = names + 1 where names < ?3`,
  )
  const clear = database.prepare('delete from asking where account = ? and day < ?')
  return (_now: Instant, { account, day, name, most }: Question): boolean => {
    if (isWanted.get(rangeOf(name), name)) return true
    if (count.run(account, day, most).changes === 0) return false
    insert.run(rangeOf(name), name)
    clear.run(account, addDays(day, -1)) // another process may still be in the day before
    return true
  }
}
