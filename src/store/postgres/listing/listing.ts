/**
 * The listing on PostgreSQL: each shard is read in the order of an index of names, page by page and one page ahead, and
 * the pages are merged here.
 */

import type { DomainName } from '../../../values/domain-name.ts'
import type { Listing, ListingOptions, ListingPage } from '../../port/listing.ts'
import { FACTS_FLAG, TOMBSTONE_ID } from '../../shared/columns.ts'
import { formatCsvRow, listedFields } from '../../shared/csv-row.ts'
import type { Statement } from '../database/connection.ts'
import type { Database } from '../database/database.ts'
import { inShardSql, type Shards } from '../database/shards.ts'
import { mergePages, type ShardPage } from './merge.ts'

/** Names per page, without and with facts. The shards divide the lines that they read at once. */
const NAMES_PER_PAGE = 20_000
const ROWS_PER_PAGE = 5_000
const MIN_SHARD_ROWS = 200

const BEGIN_LISTING = {
  name: 'listing.begin',
  text: `select nextval('arrival_number') as last_arrival,
    (select reltuples::bigint from pg_class where oid = to_regclass('crawl_state')) as estimate`,
}
const knownNamesSql = (columns: string, limit: number): string => `select ${columns} from crawl_state
  where name > $1 and id is distinct from ${TOMBSTONE_ID} and coalesce(arrival_number, 0) <= $2 and ${inShardSql('part', 3)}
  order by name limit ${limit}`

/** How an edition reads its pages. `limit`: the rows of a page. */
type EditionReader = {
  statement(limit: number): Statement
  pageOf(rows: never[]): ShardPage
}

const NAMES: EditionReader = {
  statement: (limit) => ({
    name: `listing.names-${limit}`,
    text: `select string_agg(name, E'\\n') from (${knownNamesSql('name', limit)}) v`,
    rowMode: 'array',
  }),
  pageOf([row]: [text: string | null][]) {
    const names = row?.[0]?.split('\n') ?? []
    return { names, lines: names }
  },
}

type ListedRow = [
  name: DomainName,
  flags: number | null,
  redirectsTo: string | null,
  ssl: string | null,
  ip: string | null,
  states: string | null,
]
const ROWS: EditionReader = {
  statement: (limit) => ({
    name: `listing.rows-${limit}`,
    text: `select v.name, f.flags, f.redirects_to, f.ssl, f.ip, f.states from (${knownNamesSql('part, id, name', limit)}) v
      left join facts f on f.part = v.part and f.id = v.id and ${inShardSql('f.part', 3)} order by v.name`,
    rowMode: 'array',
  }),
  pageOf: (rows: ListedRow[]) => ({ names: rows.map(([name]) => name), lines: rows.map(csvLineOf) }),
}

/** The server would take twice the time to format a line. */
function csvLineOf([name, flags, redirectsTo, ssl, ip, states]: ListedRow): string {
  const hasWebsite = ((flags ?? 0) & FACTS_FLAG.has_website) !== 0
  return formatCsvRow(listedFields(name, { hasWebsite, redirectsTo, mailServers: mailServersOf(states), ssl, ip }))
}

/** `states`: as the facts store them. Every quote in a value is escaped, so the text of a key is found only in a key. */
function mailServersOf(states: string | null): string[] {
  const start = states?.indexOf('"MX":[') ?? -1
  if (start < 0) return []
  const { MX } = JSON.parse(`{${states!.slice(start)}`) as { MX: [unknown, unknown, unknown, [number, string][]] }
  return MX[3].map(([, server]) => server)
}

type ListingDatabase = Pick<Database, 'read' | 'readLong' | 'now' | 'shards'>

export function postgresListing({ read, readLong, now, shards }: ListingDatabase): Listing {
  return {
    async start({ signal }) {
      const startedAt = await now()
      const [listingStart] = await read<{ last_arrival: number; estimate: number }>(BEGIN_LISTING)
      const { last_arrival, estimate } = listingStart!
      const { parts } = await shards()
      const pages = ({ statement, pageOf }: EditionReader, maxRows: number) => {
        const limit = Math.min(maxRows, Math.max(MIN_SHARD_ROWS, Math.ceil(maxRows / parts.length)))
        const readPage = async (after: string, part: Shards['parts'][number]): Promise<ShardPage> =>
          pageOf((await readLong(statement(limit), [after, last_arrival, part])) as never[])
        const streams = parts.map((part) => shardPages((after) => readPage(after, part), limit, signal))
        return listingPages(mergePages(streams, maxRows))
      }
      return {
        startedAt,
        estimatedNames: estimate > 0 ? estimate : null,
        names: () => pages(NAMES, NAMES_PER_PAGE),
        rows: () => pages(ROWS, ROWS_PER_PAGE),
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
