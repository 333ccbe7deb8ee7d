/** Brings the names that came since the last walk into `listed`: sorted, so that neighbours share a page, in short transactions. */

import type { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ListingOptions } from '../../port/listing.ts'
import { writeTransaction } from '../database/connection.ts'
import type { WriteAheadLog } from '../database/write-ahead-log.ts'

/** Names that are sorted at once, in memory. */
const NAMES_PER_SORT = 250_000
/** Places whose rows are removed in one transaction. */
const REMOVED_PER_TRANSACTION = 50_000
/** Milliseconds that a transaction is to take, and the names with which the first one tries. */
const TRANSACTION_TARGET_MS = 30
const FIRST_TRANSACTION_NAMES = 1000
const MAX_TRANSACTION_NAMES = 100_000

/** Brings in all that are there when it is called, and no later ones. `database` is a connection of its own. */
export async function mergePendingNames(database: DatabaseSync, log: WriteAheadLog, options: ListingOptions): Promise<void> {
  const { signal, onStage } = options
  const { mark } = database.prepare('select max(place) as mark from arrival').get() as { mark: number | null }
  if (mark === null) return
  const { first } = database.prepare('select min(place) as first from arrival').get() as { first: number }
  database.exec('create temp table coming (number integer primary key, name text not null)')
  const sort = database.prepare(
    'insert into coming (name) select name from arrival where place > ? and place <= ? order by name',
  )
  try {
    for (let place = first - 1; place < mark; place += NAMES_PER_SORT) {
      const end = Math.min(place + NAMES_PER_SORT, mark)
      const rows = Number(sort.run(place, end).changes)
      await insertSortedNames(database, log, { rows, position: place, end }, signal)
      await removePendingNames(database, log, place, end)
      database.exec('delete from coming')
      onStage?.('names', end - first + 1, mark - first + 1)
    }
  } finally {
    database.exec('drop table coming')
  }
}

/** So many names that were sorted, of the places behind `place` up to `end`. */
type SortedBatch = { rows: number; position: number; end: number }

/**
 * Writes what was sorted, in transactions of some milliseconds, with pauses in which others have their turn. Where those places
 * are gone another walk has brought all of it in, and nobody notes any more which of its names are forgotten.
 */
async function insertSortedNames(
  database: DatabaseSync,
  log: WriteAheadLog,
  { rows, position: place, end }: SortedBatch,
  signal: AbortSignal,
): Promise<void> {
  const insert = database.prepare(
    `insert or ignore into listed (name) select name from coming c where number between ? and ?
       and exists (select 1 from arrival where place > ? and place <= ?)
       and not exists (select 1 from departure d where d.name = c.name)`,
  )
  const count = sortedNameCounter(database)
  let size = FIRST_TRANSACTION_NAMES
  for (let done = 0; done < rows; ) {
    signal.throwIfAborted()
    const from = done
    const took = await timedTransaction(log, database, () => count(Number(insert.run(from + 1, from + size, place, end).changes)))
    done += size
    size = Math.round(Math.min(MAX_TRANSACTION_NAMES, size * Math.min(2, Math.max(0.2, TRANSACTION_TARGET_MS / took))) + 1)
  }
}

/** How many names are in `listed`, kept beside it so that nobody has to count them. */
function sortedNameCounter(database: DatabaseSync): (more: number) => void {
  const add = database.prepare(
    `insert into mark (name, value) values ('listed', cast(?1 as integer))
     on conflict do update set value = cast(value as integer) + excluded.value`,
  )
  return (more) => {
    if (more !== 0) add.run(more)
  }
}

/** A departure stands until nothing that came before it is left. */
async function removePendingNames(database: DatabaseSync, log: WriteAheadLog, from: number, to: number): Promise<void> {
  const arrivals = database.prepare('delete from arrival where place <= ?')
  const departures = database.prepare('delete from departure where place <= ?')
  for (let place = from; place < to; ) {
    place = Math.min(place + REMOVED_PER_TRANSACTION, to)
    const upTo = place
    await timedTransaction(log, database, () => {
      arrivals.run(upTo)
      departures.run(upTo)
    })
  }
}

/** Milliseconds that a transaction took; half of that is left to others. */
async function timedTransaction(log: WriteAheadLog, database: DatabaseSync, work: () => void): Promise<number> {
  const startedAt = await log.whenBounded(() => {
    const now = performance.now()
    writeTransaction(database, work)
    return now
  })
  const took = performance.now() - startedAt
  await sleep(took / 2)
  return took
}
