/**
 * The listing on SQLite: it merges pending names, then reads pages as ranges of `sorted_name`. SQLite formats the
 * lines.
 */

import { rmSync, statfsSync } from 'node:fs'
import { dirname } from 'node:path'
import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import { NO_FACTS } from '../../../apply/crawl-state.ts'
import type { DomainName } from '../../../values/domain-name.ts'
import type { Instant } from '../../../values/time.ts'
import { StoreFault } from '../../port/fault.ts'
import type { Listing, ListingOptions, ListingPage, NameListing } from '../../port/listing.ts'
import { factsFieldsSql, formatCsvRow, listingFields, mailFieldsSql } from '../../shared/csv-row.ts'
import { MEBIBYTE } from '../../shared/disk.ts'
import { connectSqlite } from '../database/connection.ts'
import { createEmptyFile } from '../database/folder.ts'
import { writeAheadLogOf } from '../database/write-ahead-log.ts'
import { mergePendingNames } from './pending-names.ts'

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
const EMPTY_CSV_FIELDS = formatCsvRow(listingFields('' as DomainName, NO_FACTS))

/** Names per page: about 20 milliseconds with facts. Larger pages use more memory and are not faster. */
const LISTING_PAGE_NAMES = 10000
/** Kibibytes of cached pages: a listing reads each page once. */
const LISTING_CACHE_KIBIBYTES = 4_096

const READ_NAMES_PAGE = `select count(*) as rows, min(name) as first, max(name) as last, cast(group_concat(name, x'0a') || x'0a' as blob) as text
  from (select name from sorted_name where name > ? order by name limit ${LISTING_PAGE_NAMES})`
/**
 * Reads the sorted range, up to the first name after it. Without one the bound is a blob, which is above every text:
 * only a bound that is not optional ends the search of the index.
 */
export const READ_ROWS_PAGE = `select count(*) as rows, min(name) as first, max(name) as last,
    cast(group_concat(name || coalesce(fields, '${EMPTY_CSV_FIELDS}'), x'0a') || x'0a' as blob) as text
  from (select l.name, s.fields from (select name from sorted_name where name > ? and name < coalesce(?2, x'') order by name limit ${LISTING_PAGE_NAMES}) l
    left join sorted_line s on s.name = l.name order by l.name)`

export function sqliteListing(path: string, now: () => Instant): Listing {
  return {
    async start(options) {
      const database = connectSqlite(path)
      try {
        database.exec(`pragma cache_size = -${LISTING_CACHE_KIBIBYTES}`)
        const startedAt = now()
        await mergePendingNames(database, path, writeAheadLogOf(database, path), options)
        return nameListingOf(database, path, startedAt, options)
      } catch (error) {
        database.close()
        throw error
      }
    },
  }
}

function nameListingOf(database: DatabaseSync, path: string, startedAt: Instant, options: ListingOptions): NameListing {
  const row = database.prepare(`select value from metadata where name = 'sorted_names'`).get() as
    | { value: string }
    | undefined
  const estimatedNames = Number(row?.value ?? 0)
  let preparedRanges: Promise<number> | null = null
  const ranges = (): Promise<number> => {
    preparedRanges ??= prepareRanges(database, path, estimatedNames, options)
    return preparedRanges
  }
  return {
    startedAt,
    estimatedNames,
    names() {
      const read = database.prepare(READ_NAMES_PAGE)
      return pagesAfter((after) => read.get(after), '', options)
    },
    rows: () => rowPages(database, ranges, options),
    async close() {
      database.close()
      rmSync(temporaryPath(path), { force: true })
    },
  }
}

/** Returns the number of ranges. */
function prepareRanges(
  database: DatabaseSync,
  path: string,
  estimatedNames: number,
  options: ListingOptions,
): Promise<number> {
  requireTemporarySpace(path, estimatedNames)
  attachTemporaryFile(database, path)
  return collectFactsByRange(database, estimatedNames, options)
}

async function* rowPages(
  database: DatabaseSync,
  ranges: () => Promise<number>,
  options: ListingOptions,
): AsyncGenerator<ListingPage> {
  const count = await ranges()
  const sort = rangeSorter(database)
  const read = database.prepare(READ_ROWS_PAGE)
  let last = ''
  for (let range = 0; range < count; range++) {
    const end = sort(range)
    for await (const page of pagesAfter((after) => read.get(after, end), last, options)) {
      last = page.last
      yield page
    }
  }
}

async function* pagesAfter(
  read: (after: string) => ReturnType<StatementSync['get']>,
  from: string,
  { signal }: ListingOptions,
): AsyncGenerator<ListingPage> {
  for (let after = from; ; ) {
    signal.throwIfAborted()
    const page = { ...read(after) } as ListingPage
    if (page.rows > 0) yield page
    if (page.rows < LISTING_PAGE_NAMES) return
    after = page.last
  }
}

function temporaryPath(path: string): string {
  return `${path}-temporary`
}

/** Attaches the temporary file beside the store at `path`. Replaces one that a killed listing left. */
function attachTemporaryFile(database: DatabaseSync, path: string): void {
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
async function collectFactsByRange(
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
function rangeSorter(database: DatabaseSync): (range: number) => string | null {
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
function requireTemporarySpace(path: string, names: number): void {
  const { bavail, bsize } = statfsSync(dirname(path))
  const [free, needed] = [bavail * bsize, names * TEMPORARY_BYTES_PER_NAME]
  if (free >= needed) return
  throw new StoreFault(
    `${dirname(path)}: sorting the facts needs ${Math.ceil(needed / MEBIBYTE)} MiB next to the store, ` +
      `but ${Math.floor(free / MEBIBYTE)} MiB are free: free disk space`,
  )
}
