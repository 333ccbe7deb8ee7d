/**
 * Facts in the order of names: `facts` is read once from its beginning to its end, its lines are put aside by ranges of names,
 * and a range is sorted when the walk comes to it. So nothing is looked up at random, however large the store is.
 */

import { rmSync, statfsSync } from 'node:fs'
import { dirname } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { setImmediate as turn } from 'node:timers/promises'
import { StoreFault } from '../../port/fault.ts'
import type { ListingOptions } from '../../port/listing.ts'
import { FACTS_FLAG } from '../../shared/columns.ts'
import { createEmptyFile } from '../database/folder.ts'

/** Names of a range, at least: they are sorted in memory. */
const MIN_NAMES_PER_RANGE = 100_000
/** Ranges, about and at most: the page that each grows by is kept in memory. */
const MAX_RANGES = 1000
/** Ids read in one statement. */
const IDS_PER_READ = 20_000
/** Bytes of a name that is put aside, on the disk: 94 were measured. */
const TEMPORARY_BYTES_PER_NAME = 150
const MEBIBYTE = 2 ** 20

/** What `rows` says of a name behind it, of a row `f` of facts; and of a name that has none. */
const MAIL_SERVERS_CSV = `(select iif(s glob '*[",]*', '"' || replace(s, '"', '""') || '"', s) from
  (select group_concat(value ->> 1, ' ') as s from json_each(f.states, '$.MX[3]') where value ->> 1 <> '.'))`
const CSV_FIELDS = `iif(f.flags & ${FACTS_FLAG.has_website}, ',yes,', ',no,')
  || iif(f.redirects_to is null, 'no,,', 'yes,' || f.redirects_to || ',')
  || coalesce('yes,' || ${MAIL_SERVERS_CSV}, 'no,') || ',' || coalesce(f.ssl, 'nocert') || ',' || coalesce(f.ip, '')`
export const EMPTY_CSV_FIELDS = ',no,no,,no,,nocert,'

export function temporaryPath(path: string): string {
  return `${path}-temporary`
}

/** Attaches the file beside the store at `path` that facts are put aside in; one that a killed walk left is made anew. */
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

/** Puts all facts aside; how many ranges there are. */
export async function collectFactsByRange(
  database: DatabaseSync,
  about: number,
  { signal, onStage }: ListingOptions,
): Promise<number> {
  const ranges = createRangeBounds(database, Math.max(MIN_NAMES_PER_RANGE, Math.ceil(about / MAX_RANGES)))
  const put = database.prepare(
    `insert into temporary.line (range, id, name, fields)
     select (select range from range_start b where b.name <= f.name order by b.name desc limit 1), f.id, f.name, ${CSV_FIELDS}
     from facts f where f.id > ? and f.id <= ? order by 1, 2`,
  )
  const { last } = database.prepare('select coalesce(max(id), 0) as last from facts').get() as { last: number }
  for (let id = 0; id < last; id += IDS_PER_READ) {
    signal.throwIfAborted()
    put.run(id, Math.min(id + IDS_PER_READ, last))
    onStage?.('facts', Math.min(id + IDS_PER_READ, last), last)
    await turn()
  }
  return ranges
}

/** Notes the first name of each range of so many names; how many ranges there are. */
function createRangeBounds(database: DatabaseSync, size: number): number {
  const next = database.prepare(`select name from sorted_name where name > ? order by name limit 1 offset ${size - 1}`)
  const set = database.prepare('insert into range_start (name, range) values (?, ?)')
  let ranges = 0
  for (let name: string | undefined = ''; name !== undefined; ranges++) {
    set.run(name, ranges)
    name = (next.get(name) as { name: string } | undefined)?.name
  }
  return ranges
}

/** Makes the range the one that `sorted` has; the first name behind it, null for the last one. */
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

/** Throws StoreFault where what is put aside of so many names would fill the disk. */
export function requireTemporarySpace(path: string, names: number): void {
  const { bavail, bsize } = statfsSync(dirname(path))
  const [free, needed] = [bavail * bsize, names * TEMPORARY_BYTES_PER_NAME]
  if (free >= needed) return
  throw new StoreFault(
    `${dirname(path)}: ${Math.ceil(needed / MEBIBYTE)} MiB are needed beside the store while facts are put in order, and ${Math.floor(free / MEBIBYTE)} MiB are free: make room`,
  )
}
