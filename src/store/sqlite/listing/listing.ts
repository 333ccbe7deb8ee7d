/**
 * The listing on SQLite: it merges pending names, then reads pages as ranges of `sorted_name`. SQLite formats the
 * lines.
 */

import { rmSync } from 'node:fs'
import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type { Instant } from '../../../values/time.ts'
import type { Listing, ListingOptions, ListingPage, NameListing } from '../../port/listing.ts'
import { connectSqlite } from '../database/connection.ts'
import { writeAheadLogOf } from '../database/write-ahead-log.ts'
import {
  attachTemporaryFile,
  collectFactsByRange,
  EMPTY_CSV_FIELDS,
  rangeSorter,
  requireTemporarySpace,
  temporaryPath,
} from './facts-by-range.ts'
import { mergePendingNames } from './pending-names.ts'

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
