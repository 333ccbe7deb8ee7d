/**
 * Merges the names that were added since the last listing into `sorted_name`: sorted, so that neighbours share a page,
 * and in short transactions.
 */

import { dirname } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep, setImmediate as yieldToEventLoop } from 'node:timers/promises'
import { createExternalSorter, type ExternalSorter } from '../../../import/stream/external-sort.ts'
import type { ListingOptions } from '../../port/listing.ts'
import { writeTransaction } from '../database/connection.ts'
import type { WriteAheadLog } from '../database/write-ahead-log.ts'

/** Positions whose names SQLite sorts at once, in memory. */
const POSITIONS_PER_RUN = 250_000
/** Positions whose rows are deleted in one transaction. */
const REMOVED_PER_TRANSACTION = 50_000
/** Target duration of a transaction in milliseconds, and the number of names of the first one. */
const TRANSACTION_TARGET_MS = 30
const FIRST_TRANSACTION_NAMES = 1000
const MAX_TRANSACTION_NAMES = 25_000

/** The positions of the pending names to merge, both included. */
type Positions = { first: number; last: number }
type NameRun = { names: number; lines: Uint8Array | null }
type SortedNames = { sorter: ExternalSorter; names: number }

/** Merges the names that are pending when it is called, and no later ones. `database` is a connection of its own. */
export async function mergePendingNames(
  database: DatabaseSync,
  path: string,
  log: WriteAheadLog,
  options: ListingOptions,
): Promise<void> {
  const readBounds = database.prepare('select min(position) as first, max(position) as last from pending_name')
  const { last } = readBounds.get() as { last: number | null }
  for (;;) {
    const { first } = readBounds.get() as { first: number | null }
    if (last === null || first === null || first > last) return
    const sorter = createExternalSorter(undefined, dirname(path))
    try {
      const names = await sortPendingNames(database, { first, last }, sorter, options.signal)
      const isComplete = await insertSortedNames(database, log, first, { sorter, names }, options)
      if (isComplete) await removePendingNames(database, log, { first, last })
    } finally {
      sorter.close()
    }
  }
}

/** Returns the number of names. */
async function sortPendingNames(
  database: DatabaseSync,
  { first, last }: Positions,
  sorter: ExternalSorter,
  signal: AbortSignal,
): Promise<number> {
  const readRun = database.prepare(
    `select count(*) as names, cast(string_agg(name, x'0a') || x'0a' as blob) as lines
     from (select name from pending_name where position between ? and ? order by name)`,
  )
  let count = 0
  for (let position = first; position <= last; position += POSITIONS_PER_RUN) {
    signal.throwIfAborted()
    const { names, lines } = readRun.get(position, Math.min(position + POSITIONS_PER_RUN - 1, last)) as NameRun
    if (lines !== null) sorter.addSorted(lines)
    count += names
    await yieldToEventLoop()
  }
  return count
}

/**
 * Inserts the sorted names in transactions of some milliseconds, with pauses for other writers. Returns false if the
 * position `first` is deleted: another listing has merged it, and nothing records which names are forgotten.
 */
async function insertSortedNames(
  database: DatabaseSync,
  log: WriteAheadLog,
  first: number,
  { sorter, names }: SortedNames,
  { signal, onStage }: ListingOptions,
): Promise<boolean> {
  const readFirst = database.prepare('select 1 from pending_name where position = ?')
  const insert = database.prepare(
    `insert or ignore into sorted_name (name) select value from json_each(?) n
       where not exists (select 1 from pending_removal d where d.name = n.value)`,
  )
  const addToCount = sortedNameCounter(database)
  const lines = sorter.sorted()
  let size = FIRST_TRANSACTION_NAMES
  for (let done = 0; done < names; ) {
    signal.throwIfAborted()
    const batch: string[] = []
    for (let line = lines.next(); !line.done; line = lines.next()) if (batch.push(line.value) >= size) break
    let isCurrent = true
    const durationMs = await timedTransaction(log, database, () => {
      isCurrent = readFirst.get(first) !== undefined
      if (isCurrent) addToCount(Number(insert.run(JSON.stringify(batch)).changes))
    })
    if (!isCurrent) return false
    done += batch.length
    onStage?.('names', done, names)
    size = Math.round(
      Math.min(MAX_TRANSACTION_NAMES, size * Math.min(2, Math.max(0.2, TRANSACTION_TARGET_MS / durationMs))) + 1,
    )
  }
  return true
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
async function removePendingNames(
  database: DatabaseSync,
  log: WriteAheadLog,
  { first, last }: Positions,
): Promise<void> {
  const deletePendingNames = database.prepare('delete from pending_name where position <= ?')
  const deletePendingRemovals = database.prepare('delete from pending_removal where position <= ?')
  for (let position = first - 1; position < last; ) {
    position = Math.min(position + REMOVED_PER_TRANSACTION, last)
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
