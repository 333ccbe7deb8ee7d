/**
 * Facts in the order of names. It reads `facts` once from start to end and writes the lines by ranges of names to a
 * temporary file. It sorts a range when the listing reaches it. Thus a store of any size needs no random reads.
 */

import { rmSync, statfsSync } from 'node:fs'
import { dirname } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import { NO_FACTS } from '../../../apply/crawl-state.ts'
import type { DomainName } from '../../../values/domain-name.ts'
import { StoreFault } from '../../port/fault.ts'
import type { ListingOptions } from '../../port/listing.ts'
import { factsFieldsSql, formatCsvRow, listingFields, mailFieldsSql } from '../../shared/csv-row.ts'
import { MEBIBYTE } from '../../shared/disk.ts'
import { createEmptyFile } from '../database/folder.ts'

/** Names per range: a hundredth of all names within these bounds. A small range is sorted in the processor's cache. */
const MIN_NAMES_PER_RANGE = 25_000
const MAX_NAMES_PER_RANGE = 100_000
/** Approximate maximum of ranges: the page that each range appends to is kept in memory. Above it, ranges grow. */
const MAX_RANGES = 1000
const IDS_PER_READ = 20_000
/** Bytes on disk per name in the temporary file (94 measured). */
const TEMPORARY_BYTES_PER_NAME = 150

/** A mail server is the only text of an MX record. */
const MAIL_SERVERS = `select atom as server from json_tree(f.states, '$.MX[3]') where type = 'text'`
const CSV_FIELDS = factsFieldsSql(mailFieldsSql(MAIL_SERVERS))
/** The CSV fields after the domain of a name without facts. */
export const EMPTY_CSV_FIELDS = formatCsvRow(listingFields('' as DomainName, NO_FACTS))

export function temporaryPath(path: string): string {
  return `${path}-temporary`
}

/** Attaches the temporary file beside the store at `path`. Replaces one that a killed listing left. */
export function attachTemporaryFile(database: DatabaseSync, path: string): void {
  for (const end of ['', '-journal']) rmSync(temporaryPath(path) + end, { force: true })
  createEmptyFile(temporaryPath(path))
  database.prepare('attach ? as temporary').run(temporaryPath(path))
  database.exec(`pragma temporary.page_size = 8192; pragma temporary.journal_mode = off; pragma temporary.synchronous = off;
    pragma temporary.locking_mode = exclusive; pragma temporary.cache_size = -10240;
    create table temporary.line (range integer, id integer, name text, fields text, primary key (range, id)) without rowid;
    create temp table range_start (name text primary key, range integer) without rowid;
    create temp table sorted_line (name text primary key, fields text) without rowid`)
}

/** Writes all facts to the temporary file. Returns the number of ranges. */
export async function collectFactsByRange(
  database: DatabaseSync,
  estimatedNames: number,
  { signal, onStage }: ListingOptions,
): Promise<number> {
  const ranges = createRangeBounds(database, namesPerRange(estimatedNames))
  const insertLines = database.prepare(
    `insert into temporary.line (range, id, name, fields)
     select (select range from range_start b where b.name <= f.name order by b.name desc limit 1), f.id, f.name, ${CSV_FIELDS}
     from facts f where f.id > ? and f.id <= ? order by 1, 2`,
  )
  const { last } = database.prepare('select coalesce(max(id), 0) as last from facts').get() as { last: number }
  for (let id = 0; id < last; id += IDS_PER_READ) {
    signal.throwIfAborted()
    insertLines.run(id, Math.min(id + IDS_PER_READ, last))
    onStage?.('facts', Math.min(id + IDS_PER_READ, last), last)
    await yieldToEventLoop()
  }
  return ranges
}

function namesPerRange(names: number): number {
  const hundredth = Math.min(Math.max(Math.ceil(names / 100), MIN_NAMES_PER_RANGE), MAX_NAMES_PER_RANGE)
  return Math.max(hundredth, Math.ceil(names / MAX_RANGES))
}

/** Stores the first name of each range of `size` names. Returns the number of ranges. */
function createRangeBounds(database: DatabaseSync, size: number): number {
  const next = database.prepare(`select name from sorted_name where name > ? order by name limit 1 offset ${size - 1}`)
  const insertStart = database.prepare('insert into range_start (name, range) values (?, ?)')
  let ranges = 0
  for (let name: string | undefined = ''; name !== undefined; ranges++) {
    insertStart.run(name, ranges)
    name = (next.get(name) as { name: string } | undefined)?.name
  }
  return ranges
}

/** Sorts a range into `sorted_line`. Returns the first name after it; null for the last range. */
export function rangeSorter(database: DatabaseSync): (range: number) => string | null {
  const sort = database.prepare(
    'insert into sorted_line (name, fields) select name, fields from temporary.line where range = ? order by name',
  )
  const end = database.prepare('select name from range_start where range = ?')
  return (range) => {
    database.exec('delete from sorted_line')
    sort.run(range)
    return (end.get(range + 1) as { name: string } | undefined)?.name ?? null
  }
}

/** Throws StoreFault if the temporary data of this many names would fill the disk. */
export function requireTemporarySpace(path: string, names: number): void {
  const { bavail, bsize } = statfsSync(dirname(path))
  const [free, needed] = [bavail * bsize, names * TEMPORARY_BYTES_PER_NAME]
  if (free >= needed) return
  throw new StoreFault(
    `${dirname(path)}: sorting the facts needs ${Math.ceil(needed / MEBIBYTE)} MiB next to the store, ` +
      `but ${Math.floor(free / MEBIBYTE)} MiB are free: free disk space`,
  )
}
