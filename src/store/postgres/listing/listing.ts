/** The listing on PostgreSQL: pages are ranges of an index of names. The server formats the lines. */

import type { Listing, ListingOptions, ListingPage } from '../../port/listing.ts'
import { TOMBSTONE_ID } from '../../shared/columns.ts'
import { factsFieldsSql } from '../../shared/csv-row.ts'
import type { Database } from '../database/database.ts'

/** Names per page, without and with facts: some tens of milliseconds. */
const NAMES_PER_PAGE = 20_000
const ROWS_PER_PAGE = 5_000

const BEGIN_LISTING = {
  name: 'listing.begin',
  text: `select nextval('arrival_number') as last_arrival,
    (select reltuples::bigint from pg_class where oid = to_regclass('crawl_state')) as estimate`,
}
const KNOWN_NAMES = `from crawl_state where name > $1 and id is distinct from ${TOMBSTONE_ID} and coalesce(arrival_number, 0) <= $2 order by name`
const PAGE_BOUNDS = 'count(*)::integer as rows, min(name) as first, max(name) as last'
const READ_NAME_PAGE = {
  name: 'listing.names',
  text: `select ${PAGE_BOUNDS}, string_agg(name, E'\\n') || E'\\n' as text from (select name ${KNOWN_NAMES} limit ${NAMES_PER_PAGE}) v`,
}
const CSV_FIELDS = factsFieldsSql(
  `select element ->> 1 as server from json_array_elements(f.states::json #> '{MX,3}') as element`,
)
const READ_ROW_PAGE = {
  name: 'listing.rows',
  text: `select ${PAGE_BOUNDS}, string_agg(name || fields, E'\\n') || E'\\n' as text from (
    select v.name, ${CSV_FIELDS} as fields from (select part, id, name ${KNOWN_NAMES} limit ${ROWS_PER_PAGE}) v
    left join facts f on f.part = v.part and f.id = v.id order by v.name) r`,
}

type ListingBeginning = { last_arrival: number; estimate: number }
type ListingRow = Omit<ListingPage, 'text'> & { text: string }

export function postgresListing({ read, readLong, now }: Pick<Database, 'read' | 'readLong' | 'now'>): Listing {
  return {
    async start({ signal }) {
      const startedAt = await now()
      const [listingStart] = await read<ListingBeginning>(BEGIN_LISTING)
      const { last_arrival, estimate } = listingStart!
      const pages = (statement: typeof READ_NAME_PAGE, max: number) =>
        listingPages((after) => readLong<ListingRow>(statement, [after, last_arrival]), max, signal)
      return {
        startedAt,
        estimatedNames: estimate < 0 ? null : estimate,
        names: () => pages(READ_NAME_PAGE, NAMES_PER_PAGE),
        rows: () => pages(READ_ROW_PAGE, ROWS_PER_PAGE),
        close: async () => {},
      }
    },
  }
}

async function* listingPages(
  read: (after: string) => Promise<ListingRow[]>,
  pageSize: number,
  signal: ListingOptions['signal'],
): AsyncGenerator<ListingPage> {
  for (let after = ''; ; ) {
    signal.throwIfAborted()
    const [page] = (await read(after)) as [ListingRow]
    if (page.rows > 0) yield { ...page, text: Buffer.from(page.text, 'latin1') }
    if (page.rows < pageSize) return
    after = page.last
  }
}
