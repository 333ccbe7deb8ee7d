/**
 * Merges the names that were added since the last listing into `sorted_name`: sorted, so that neighbours share a page,
 * and in short transactions.
 */

import type { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ListingOptions } from '../../port/listing.ts'
import { writeTransaction } from '../database/connection.ts'
import type { WriteAheadLog } from '../database/write-ahead-log.ts'

/** Names that are sorted at once, in memory. */
const NAMES_PER_SORT = 250_000
/** Positions whose rows are deleted in one transaction. */
const REMOVED_PER_TRANSACTION = 50_000
/** Target duration of a transaction in milliseconds, and the number of names of the first one. */
const TRANSACTION_TARGET_MS = 30
const FIRST_TRANSACTION_NAMES = 1000
const MAX_TRANSACTION_NAMES = 100_000

/** Merges the names that are pending when it is called, and no later ones. `database` is a connection of its own. */
export async function mergePendingNames(
  database: DatabaseSync,
  log: WriteAheadLog,
  options: ListingOptions,
): Promise<void> {
  const { signal, onStage } = options
  const { mark: maxPosition } = database.prepare('select max(position) as mark from pending_name').get() as {
    mark: number | null
  }
  if (maxPosition === null) return
  const { first } = database.prepare('select min(position) as first from pending_name').get() as { first: number }
  database.exec('create temp table sorted_batch (number integer primary key, name text not null)')
  const sort = database.prepare(
    'insert into sorted_batch (name) select name from pending_name where position > ? and position <= ? order by name',
  )
  try {
    for (let position = first - 1; position < maxPosition; position += NAMES_PER_SORT) {
      const end = Math.min(position + NAMES_PER_SORT, maxPosition)
      const rows = Number(sort.run(position, end).changes)
      await insertSortedNames(database, log, { rows, position, end }, signal)
      await removePendingNames(database, log, position, end)
      database.exec('delete from sorted_batch')
      onStage?.('names', end - first + 1, maxPosition - first + 1)
    }
  } finally {
    database.exec('drop table sorted_batch')
  }
}

/** A batch of `rows` sorted names, from the positions after `position` up to `end`. */
type SortedBatch = { rows: number; position: number; end: number }

/**
 * Inserts the sorted names in transactions of some milliseconds, with pauses for other writers. If those positions are
 * deleted, another listing has merged them. Then nothing records which of these names are forgotten, so none is
 * inserted.
 */
async function insertSortedNames(
  database: DatabaseSync,
  log: WriteAheadLog,
  { rows, position, end }: SortedBatch,
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
    const durationMs = await timedTransaction(log, database, () =>
      count(Number(insert.run(from + 1, from + size, position, end).changes)),
    )
    done += size
    size = Math.round(
      Math.min(MAX_TRANSACTION_NAMES, size * Math.min(2, Math.max(0.2, TRANSACTION_TARGET_MS / durationMs))) + 1,
    )
  }
}

/** Maintains the number of names in `sorted_name`, so that no query has to count them. */
function sortedNameCounter(database: DatabaseSync): (difference: number) => void {
  const add = database.prepare(
    `insert into metadata (name, value) values ('sorted_names', cast(?1 as integer))
     on conflict do update set value = cast(value as integer) + excluded.value`,
  )
  return (difference) => {
    if (difference !== 0) add.run(difference)
  }
}

/** A removal stays until no earlier pending name is left. */
async function removePendingNames(database: DatabaseSync, log: WriteAheadLog, from: number, to: number): Promise<void> {
  const deletePendingNames = database.prepare('delete from pending_name where position <= ?')
  const deletePendingRemovals = database.prepare('delete from pending_removal where position <= ?')
  for (let position = from; position < to; ) {
    position = Math.min(position + REMOVED_PER_TRANSACTION, to)
    const upTo = position
    await timedTransaction(log, database, () => {
      deletePendingNames.run(upTo)
      deletePendingRemovals.run(upTo)
    })
  }
}

/** Runs a transaction and returns its duration in milliseconds. Then waits half of that time for other writers. */
async function timedTransaction(log: WriteAheadLog, database: DatabaseSync, work: () => void): Promise<number> {
  const startedAt = await log.whenBounded(() => {
    const now = performance.now()
    writeTransaction(database, work)
    return now
  })
  const durationMs = performance.now() - startedAt
  await sleep(durationMs / 2)
  return durationMs
}
