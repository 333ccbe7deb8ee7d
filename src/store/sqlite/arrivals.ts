/** Brings the names that came since the last walk into `listed`: sorted, so that neighbours share a page, in short transactions. */

import type { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import type { WalkOptions } from '../listing.ts'
import { transaction } from './connection.ts'
import type { Log } from './log.ts'

/** Names that are sorted at once, in memory. */
const SORTED = 250_000
/** Places whose rows are removed in one transaction. */
const REMOVED = 50_000
/** Milliseconds that a transaction is to take, and the names with which the first one tries. */
const TARGET = 30
const FIRST = 1000
const MOST = 100_000

/** Brings in all that are there when it is called, and no later ones. `database` is a connection of its own. */
export async function mergeArrivals(database: DatabaseSync, log: Log, options: WalkOptions): Promise<void> {
  const { signal, onStage } = options
  const { mark } = database.prepare('select max(place) as mark from arrival').get() as { mark: number | null }
  if (mark === null) return
  const { first } = database.prepare('select min(place) as first from arrival').get() as { first: number }
  database.exec('create temp table coming (number integer primary key, name text not null)')
  const sort = database.prepare(
    'insert into coming (name) select name from arrival where place > ? and place <= ? order by name',
  )
  try {
    for (let place = first - 1; place < mark; place += SORTED) {
      const end = Math.min(place + SORTED, mark)
      const rows = Number(sort.run(place, end).changes)
      await insertComing(database, log, { rows, place, end }, signal)
      await removeArrivals(database, log, place, end)
      database.exec('delete from coming')
      onStage?.('names', end - first + 1, mark - first + 1)
    }
  } finally {
    database.exec('drop table coming')
  }
}

/** So many names that were sorted, of the places behind `place` up to `end`. */
type Coming = { rows: number; place: number; end: number }

/**
 * Writes what was sorted, in transactions of some milliseconds, with pauses in which others have their turn. Where those places
 * are gone another walk has brought all of it in, and nobody notes any more which of its names are forgotten.
 */
async function insertComing(
  database: DatabaseSync,
  log: Log,
  { rows, place, end }: Coming,
  signal: AbortSignal,
): Promise<void> {
  const insert = database.prepare(
    `insert or ignore into listed (name) select name from coming c where number between ? and ?
       and exists (select 1 from arrival where place > ? and place <= ?)
       and not exists (select 1 from departure d where d.name = c.name)`,
  )
  const count = counter(database)
  let size = FIRST
  for (let done = 0; done < rows; ) {
    signal.throwIfAborted()
    const from = done
    const took = await timed(log, database, () => count(Number(insert.run(from + 1, from + size, place, end).changes)))
    done += size
    size = Math.round(Math.min(MOST, size * Math.min(2, Math.max(0.2, TARGET / took))) + 1)
  }
}

/** How many names are in `listed`, kept beside it so that nobody has to count them. */
function counter(database: DatabaseSync): (more: number) => void {
  const add = database.prepare(
    `insert into mark (name, value) values ('listed', cast(?1 as integer))
     on conflict do update set value = cast(value as integer) + excluded.value`,
  )
  return (more) => {
    if (more !== 0) add.run(more)
  }
}

/** A departure stands until nothing that came before it is left. */
async function removeArrivals(database: DatabaseSync, log: Log, from: number, to: number): Promise<void> {
  const arrivals = database.prepare('delete from arrival where place <= ?')
  const departures = database.prepare('delete from departure where place <= ?')
  for (let place = from; place < to; ) {
    place = Math.min(place + REMOVED, to)
    const upTo = place
    await timed(log, database, () => {
      arrivals.run(upTo)
      departures.run(upTo)
    })
  }
}

/** Milliseconds that a transaction took; half of that is left to others. */
async function timed(log: Log, database: DatabaseSync, work: () => void): Promise<number> {
  const begun = await log.bounded(() => {
    const now = performance.now()
    transaction(database, work)
    return now
  })
  const took = performance.now() - begun
  await sleep(took / 2)
  return took
}
