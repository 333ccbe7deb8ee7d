/** Brings the names that came since the last walk into `sorted_name`: sorted, so that neighbours share a page, in short transactions. */

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
export async function mergePendingNames(
  database: DatabaseSync,
  log: WriteAheadLog,
  options: ListingOptions,
): Promise<void> {
  const { signal, onStage } = options
  const { mark } = database.prepare('select max(position) as mark from pending_name').get() as { mark: number | null }
  if (mark === null) return
  const { first } = database.prepare('select min(position) as first from pending_name').get() as { first: number }
  database.exec('create temp table sorted_batch (number integer primary key, name text not null)')
  const sort = database.prepare(
    'insert into sorted_batch (name) select name from pending_name where position > ? and position <= ? order by name',
  )
  try {
    for (let place = first - 1; place < mark; place += NAMES_PER_SORT) {
      const end = Math.min(place + NAMES_PER_SORT, mark)
      const rows = Number(sort.run(place, end).changes)
      await insertSortedNames(database, log, { rows, position: place, end }, signal)
      await removePendingNames(database, log, place, end)
      database.exec('delete from sorted_batch')
      onStage?.('names', end - first + 1, mark - first + 1)
    }
  } finally {
    database.exec('drop table sorted_batch')
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
    `insert or ignore into sorted_name (name) select name from sorted_batch c where number between ? and ?
       and exists (select 1 from pending_name where position > ? and position <= ?)
       and not exists (select 1 from pending_removal d where d.name = c.name)`,
  )
  const count = sortedNameCounter(database)
  let size = FIRST_TRANSACTION_NAMES
  for (let done = 0; done < rows; ) {
    signal.throwIfAborted()
    const from = done
    const took = await timedTransaction(log, database, () =>
      count(Number(insert.run(from + 1, from + size, place, end).changes)),
    )
    done += size
    size = Math.round(
      Math.min(MAX_TRANSACTION_NAMES, size * Math.min(2, Math.max(0.2, TRANSACTION_TARGET_MS / took))) + 1,
    )
  }
}

/** How many names are in `sorted_name`, kept beside it so that nobody has to count them. */
function sortedNameCounter(database: DatabaseSync): (more: number) => void {
  const add = database.prepare(
    `insert into metadata (name, value) values ('sorted_names', cast(?1 as integer))
     on conflict do update set value = cast(value as integer) + excluded.value`,
  )
  return (more) => {
    if (more !== 0) add.run(more)
  }
}

/** A departure stands until nothing that came before it is left. */
async function removePendingNames(database: DatabaseSync, log: WriteAheadLog, from: number, to: number): Promise<void> {
  const arrivals = database.prepare('delete from pending_name where position <= ?')
  const departures = database.prepare('delete from pending_removal where position <= ?')
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
