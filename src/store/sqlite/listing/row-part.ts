/**
 * A part of the rows of a listing: it writes the facts of some names to a temporary file by ranges of names, then sorts
 * ranges of all parts and reads their pages. SQLite formats the lines. One thread has one part.
 */

import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import { NO_FACTS } from '../../../apply/crawl-state.ts'
import type { DomainName } from '../../../values/domain-name.ts'
import type { ListingPage } from '../../port/listing.ts'
import { factsFieldsSql, formatCsvRow, listingFields, mailFieldsSql } from '../../shared/csv-row.ts'
import { connectSqlite } from '../database/connection.ts'

/** `store`: the path of the store. `file`: that of the temporary file. `starts`: the first name of each range. */
export type RowPartOptions = { store: string; file: string; starts: readonly DomainName[] }

const IDS_PER_READ = 20_000
/** Names per page: about 20 milliseconds with facts. Larger pages use more memory and are not faster. */
export const LISTING_PAGE_NAMES = 10_000
/** Kibibytes of cached pages: a listing reads each page once. */
export const LISTING_CACHE_KIBIBYTES = 4_096

/** A mail server is the only text of an MX record. */
const MAIL_SERVERS = `select atom as server from json_tree(f.states, '$.MX[3]') where type = 'text'`
const CSV_FIELDS = factsFieldsSql(mailFieldsSql(MAIL_SERVERS))
/** The CSV fields after the domain of a name without facts. */
const EMPTY_CSV_FIELDS = formatCsvRow(listingFields('' as DomainName, NO_FACTS))

/**
 * Reads the sorted range, up to the first name after it. Without one the bound is a blob, which is above every text:
 * only a bound that is not optional ends the search of the index.
 */
export const READ_ROWS_PAGE = `select count(*) as rows, min(name) as first, max(name) as last,
    cast(group_concat(name || coalesce(fields, '${EMPTY_CSV_FIELDS}'), x'0a') || x'0a' as blob) as text
  from (select l.name, s.fields from (select name from sorted_name where name > ? and name < coalesce(?2, x'') order by name limit ${LISTING_PAGE_NAMES}) l
    left join sorted_line s on s.name = l.name order by l.name)`

export class RowPart {
  readonly #database: DatabaseSync
  readonly #starts: readonly DomainName[]
  #readRange: RangeReader | null = null
  /** The range whose pages are read. */
  #pages: ReturnType<RangeReader> | null = null

  /** The temporary file must be empty. */
  constructor({ store, file, starts }: RowPartOptions) {
    this.#starts = starts
    this.#database = connectSqlite(store)
    try {
      prepareTables(this.#database, file, starts)
    } catch (error) {
      this.#database.close()
      throw error
    }
  }

  /**
   * Writes the facts with numbers above `from`, up to `to`, to the file, and releases it at the end, so that all parts can
   * read it. Yields the number that it has reached.
   */
  *collect(from: number, to: number): Generator<number, void> {
    const insertLines = this.#database.prepare(
      `insert into temporary.line (range, id, name, fields)
       select (select range from range_start b where b.name <= f.name order by b.name desc limit 1), f.id, f.name, ${CSV_FIELDS}
       from facts f where f.id > ? and f.id <= ? order by 1, 2`,
    )
    for (let id = from; id < to; id += IDS_PER_READ) {
      const reached = Math.min(id + IDS_PER_READ, to)
      insertLines.run(id, reached)
      yield reached
    }
    this.#database.exec('detach temporary')
  }

  /** Reads the files of all parts from now on. All of them have collected their facts. */
  open(files: readonly string[]): void {
    this.#readRange = rangeReader(this.#database, files, this.#starts)
  }

  /** The first page of a range, or the next one of the same (null). Undefined at its end. */
  next(range: number | null): ListingPage | undefined {
    if (range !== null) this.#pages = this.#readRange!(range)
    return this.#pages!.next().value
  }

  close(): void {
    this.#database.close()
  }
}

/** Reads pages, each after a name, until one is not full. */
export function* pagesAfter(
  read: (after: string) => ReturnType<StatementSync['get']>,
  from: string,
): Generator<ListingPage, undefined> {
  for (let after = from; ; ) {
    const page = { ...read(after) } as ListingPage
    if (page.rows > 0) yield page
    if (page.rows < LISTING_PAGE_NAMES) return
    after = page.last
  }
}

type RangeReader = (range: number) => Generator<ListingPage, undefined>

/** Returns a function that sorts a range of the files, and reads its pages. */
function rangeReader(database: DatabaseSync, files: readonly string[], starts: readonly DomainName[]): RangeReader {
  for (const [part, file] of files.entries()) {
    const existing = `${pathToFileURL(file)}?mode=rw` // without a file there would be a new one, with no lines
    database.prepare(`attach ? as part${part}`).run(existing)
  }
  const lines = files.map((_, part) => `select name, fields from part${part}.line where range = ?1`)
  const sort = database.prepare(
    `insert into sorted_line (name, fields) select name, fields from (${lines.join(' union all ')}) order by name`,
  )
  const before = database.prepare('select max(name) as name from sorted_name where name < ?')
  const read = database.prepare(READ_ROWS_PAGE)
  return function* (range) {
    database.exec('delete from sorted_line')
    sort.run(range)
    const { name } = before.get(starts[range]!) as { name: DomainName | null }
    return yield* pagesAfter((after) => read.get(after, starts[range + 1] ?? null), name ?? '')
  }
}

function prepareTables(database: DatabaseSync, file: string, starts: readonly DomainName[]): void {
  database.exec(`pragma cache_size = -${LISTING_CACHE_KIBIBYTES}`)
  database.prepare('attach ? as temporary').run(file)
  database.exec(`pragma temporary.page_size = 8192; pragma temporary.journal_mode = off; pragma temporary.synchronous = off;
    pragma temporary.locking_mode = exclusive; pragma temporary.cache_size = -10240;
    create table temporary.line (range integer, id integer, name text, fields text, primary key (range, id)) without rowid;
    create temp table range_start (name text primary key, range integer) without rowid;
    create temp table sorted_line (name text primary key, fields text) without rowid`)
  const insertStart = database.prepare('insert into range_start (name, range) values (?, ?)')
  for (const [range, name] of starts.entries()) insertStart.run(name, range)
}
