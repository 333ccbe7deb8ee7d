/**
 * The listing on PostgreSQL: each shard is read in the order of an index of names, page by page and one page ahead. The
 * pages are merged here.
 */

import type { DomainName } from '../../../values/domain-name.ts'
import { RECORD_TYPES } from '../../../values/records/dns-record.ts'
import type { Listing, ListingOptions, ListingPage } from '../../port/listing.ts'
import { TOMBSTONE_ID } from '../../shared/columns.ts'
import { factsFieldsSql, mailFields } from '../../shared/csv-row.ts'
import type { Statement } from '../database/connection.ts'
import type { Database } from '../database/database.ts'
import { inShardSql } from '../database/shards.ts'

/** Lines of one shard, and the name of each. Never empty. */
export type ShardPage = { names: readonly string[]; lines: readonly string[] }

/** A shard, and the position of its next line. */
type Cursor = { pages: AsyncIterator<ShardPage>; page: ShardPage; index: number }

/** Names per page, without and with facts. The shards divide the lines that they read at once. */
const NAMES_PER_PAGE = 20_000
const ROWS_PER_PAGE = 5_000
const MIN_SHARD_ROWS = 200

const BEGIN_LISTING = {
  name: 'listing.begin',
  text: `select nextval('arrival_number') as last_arrival,
    (select reltuples::bigint from pg_class where oid = to_regclass('crawl_state')) as estimate`,
}
const knownNamesSql = (columns: string, limit: number): string => `select ${columns} from crawl_state c
  where name > $1 and id is distinct from ${TOMBSTONE_ID} and coalesce(arrival_number, 0) <= $2 and ${inShardSql('c.part', 3)}
  and ($4::integer is null or slot & 1 = $4) order by name limit ${limit}`

/** Without shards, two connections read the rows: those of even and those of odd slots. */
const HALVES = [0, 1]
const WHOLE = [null]

/** How an edition reads its pages: one text of lines, null for none. `limit`: the lines of a page. */
type EditionReader = {
  maxRows: number
  /** Whether two connections are faster than one. */
  isHalved: boolean
  statement(limit: number): Statement
  pageOf(lines: string[]): ShardPage
}

const NAMES: EditionReader = {
  maxRows: NAMES_PER_PAGE,
  isHalved: false,
  statement: (limit) => ({
    name: `listing.names-${limit}`,
    text: `select string_agg(name, E'\\n') as text from (${knownNamesSql('name', limit)}) v`,
  }),
  pageOf: (names) => ({ names, lines: names }),
}

/**
 * The state of MX without its first bracket, cut out of all states. Every quote in a value is escaped, so the text of a
 * key is found only in a key. The functions for JSON take three times as long.
 */
const MX_STATE = RECORD_TYPES.filter((type) => type !== 'MX').reduce(
  (sql, type) => `split_part(${sql}, ',"${type}":[', 1)`,
  `split_part(f.states, '"MX":[', 2)`,
)
/** The place of the mail servers is between two tabs, and has that state. */
const CSV_FIELDS = factsFieldsSql(`E'\\t' || coalesce(${MX_STATE}, '') || E'\\t'`)
const ROWS: EditionReader = {
  maxRows: ROWS_PER_PAGE,
  isHalved: true,
  statement: (limit) => ({
    name: `listing.rows-${limit}`,
    text: `select string_agg(name || fields, E'\\n') as text from (
      select v.name, ${CSV_FIELDS} as fields from (${knownNamesSql('part, id, name', limit)}) v
      left join facts f on f.part = v.part and f.id = v.id and ${inShardSql('f.part', 3)} order by v.name) r`,
  }),
  pageOf: (rows) => ({
    names: rows.map((row) => row.slice(0, row.indexOf(','))),
    lines: rows.map(csvLineOf),
  }),
}

/** JSON contains no tab and no line feed. */
function csvLineOf(row: string): string {
  const [before, state, after] = row.split('\t') as [string, string, string]
  return `${before}${mailFields(mailServersOf(state))}${after}`
}

/** `state`: as MX_STATE. If MX is the last of the states, their closing brace follows. */
function mailServersOf(state: string): string[] {
  if (state === '') return []
  const array = JSON.parse(`[${state.endsWith('}') ? state.slice(0, -1) : state}`)
  return (array[3] as [priority: number, server: string][]).map(([, server]) => server)
}

type ListingDatabase = Pick<Database, 'read' | 'readLong' | 'now' | 'shards'>

export function postgresListing({ read, readLong, now, shards }: ListingDatabase): Listing {
  return {
    async start({ signal }) {
      const startedAt = await now()
      const [listingStart] = await read<{ last_arrival: number; estimate: number }>(BEGIN_LISTING)
      const { last_arrival, estimate } = listingStart!
      const { parts } = await shards()
      const pages = ({ statement, pageOf, maxRows, isHalved }: EditionReader) => {
        const halves = isHalved && parts.length === 1 ? HALVES : WHOLE
        const readers = parts.flatMap((part) => halves.map((half) => ({ part, half })))
        const limit = Math.max(MIN_SHARD_ROWS, Math.ceil(maxRows / readers.length))
        const streams = readers.map(({ part, half }) => {
          const send = half === 0 ? read : readLong
          const readPage = async (after: string): Promise<ShardPage> => {
            const [page] = await send<{ text: string | null }>(statement(limit), [after, last_arrival, part, half])
            return pageOf(page!.text?.split('\n') ?? [])
          }
          return shardPages(readPage, limit, signal)
        })
        return listingPages(mergePages(streams, maxRows))
      }
      return {
        startedAt,
        estimatedNames: estimate > 0 ? estimate : null,
        names: () => pages(NAMES),
        rows: () => pages(ROWS),
        close: async () => {},
      }
    },
  }
}

/** The pages of one shard. Reads the next page while the caller uses one. */
async function* shardPages(
  readPage: (after: string) => Promise<ShardPage>,
  pageSize: number,
  signal: ListingOptions['signal'],
): AsyncGenerator<ShardPage> {
  signal.throwIfAborted()
  let next: Promise<ShardPage> | null = readPage('')
  try {
    while (next !== null) {
      const page: ShardPage = await next
      signal.throwIfAborted()
      next = page.names.length < pageSize ? null : readPage(page.names.at(-1)!)
      next?.catch(() => {}) // the next turn throws the error
      if (page.names.length > 0) yield page
    }
  } finally {
    await next?.catch(() => {})
  }
}

async function* listingPages(pages: AsyncIterable<ShardPage>): AsyncGenerator<ListingPage> {
  for await (const { names, lines } of pages) {
    const text = Buffer.from(`${lines.join('\n')}\n`, 'latin1')
    yield { text, rows: names.length, first: names[0] as DomainName, last: names.at(-1) as DomainName }
  }
}

/**
 * Yields every line of `shards` once, at most `maxLines` at a time. Holds one page of each shard, and those that the
 * shards read ahead.
 */
export async function* mergePages(
  shards: readonly AsyncIterable<ShardPage>[],
  maxLines: number,
): AsyncGenerator<ShardPage> {
  const all = shards.map((shard) => shard[Symbol.asyncIterator]())
  try {
    const started = await Promise.all(all.map(startCursor))
    const cursors = started.filter((cursor) => cursor !== null).sort(compareCursors)
    let [names, lines]: [string[], string[]] = [[], []]
    for (let cursor = cursors.shift(); cursor !== undefined; cursor = cursors.shift()) {
      const end = endOfRun(cursor, cursors[0], maxLines - names.length)
      names.push(...cursor.page.names.slice(cursor.index, end))
      lines.push(...cursor.page.lines.slice(cursor.index, end))
      cursor.index = end
      if (names.length === maxLines) {
        yield { names, lines }
        ;[names, lines] = [[], []]
      }
      if (await hasMore(cursor)) insertCursor(cursors, cursor)
    }
    if (names.length > 0) yield { names, lines }
  } finally {
    await Promise.all(all.map((pages) => pages.return?.()))
  }
}

async function startCursor(pages: AsyncIterator<ShardPage>): Promise<Cursor | null> {
  const { done, value } = await pages.next()
  return done ? null : { pages, page: value, index: 0 }
}

/** Moves to the next page at the end of one. Returns false at the end of the shard. */
async function hasMore(cursor: Cursor): Promise<boolean> {
  if (cursor.index < cursor.page.names.length) return true
  const { done, value } = await cursor.pages.next()
  if (done) return false
  cursor.page = value
  cursor.index = 0
  return true
}

/** The end of the lines of a page that come before the next line of any other shard, at most `maxLines`. */
function endOfRun({ page: { names }, index }: Cursor, next: Cursor | undefined, maxLines: number): number {
  const max = Math.min(names.length, index + maxLines)
  if (next === undefined) return max
  const limit = nameAt(next)
  let end = index + 1
  while (end < max && names[end]! < limit) end++
  return end
}

function nameAt({ page, index }: Cursor): string {
  return page.names[index]!
}

function compareCursors(a: Cursor, b: Cursor): number {
  return nameAt(a) < nameAt(b) ? -1 : 1
}

/** `cursors`: sorted by their next names. */
function insertCursor(cursors: Cursor[], cursor: Cursor): void {
  const name = nameAt(cursor)
  let [from, to] = [0, cursors.length]
  while (from < to) {
    const middle = (from + to) >> 1
    if (nameAt(cursors[middle]!) < name) from = middle + 1
    else to = middle
  }
  cursors.splice(from, 0, cursor)
}
