/** The listing on PostgreSQL: pages are ranges of an index of names, written by the server. */

import { FLAG, TOMBSTONE } from '../columns.ts'
import type { ListedPage, Listing, WalkOptions } from '../listing.ts'
import type { Database } from './database.ts'

/** Names a page, and such with facts: some tens of milliseconds. */
const NAMES_A_PAGE = 20_000
const ROWS_A_PAGE = 5_000

const BEGIN = {
  name: 'listing.begin',
  text: `select nextval('arrival') as mark, (select reltuples::bigint from pg_class where oid = to_regclass('visit')) as about`,
}
const KNOWN = `from visit where name > $1 and id is distinct from ${TOMBSTONE} and coalesce(arrived, 0) <= $2 order by name`
const ENDS = 'count(*)::integer as rows, min(name) as first, max(name) as last'
const NAMES = {
  name: 'listing.names',
  text: `select ${ENDS}, string_agg(name, E'\\n') || E'\\n' as text from (select name ${KNOWN} limit ${NAMES_A_PAGE}) v`,
}
/** Fields in quotes where they have to be: only names of hosts can have what needs them. */
const SERVERS = `(select case when s ~ '[",]' then '"' || replace(s, '"', '""') || '"' else s end
  from (select string_agg(m ->> 1, ' ') as s from json_array_elements(f.states::json #> '{MX,3}') m where m ->> 1 <> '.') servers)`
const TOLD = `case when coalesce(f.flags, 0) & ${FLAG.has_website} <> 0 then ',yes,' else ',no,' end
  || coalesce('yes,' || f.redirects_to, 'no,') || ',' || coalesce('yes,' || ${SERVERS}, 'no,')
  || ',' || coalesce(f.ssl, 'nocert') || ',' || coalesce(f.ip, '')`
const ROWS = {
  name: 'listing.rows',
  text: `select ${ENDS}, string_agg(name || told, E'\\n') || E'\\n' as text from (
    select v.name, ${TOLD} as told from (select part, id, name ${KNOWN} limit ${ROWS_A_PAGE}) v
    left join facts f on f.part = v.part and f.id = v.id order by v.name) r`,
}

type Row = Omit<ListedPage, 'text'> & { text: string }

export function listingOf({ read, readLong, now }: Pick<Database, 'read' | 'readLong' | 'now'>): Listing {
  return {
    async begin({ signal }) {
      const begun = await now()
      const [{ mark, about }] = (await read<{ mark: number; about: number }>(BEGIN)) as [
        { mark: number; about: number },
      ]
      const walk = (statement: typeof NAMES, most: number) =>
        pages((after) => readLong<Row>(statement, [after, mark]), most, signal)
      return {
        begun,
        about: about < 0 ? null : about,
        names: () => walk(NAMES, NAMES_A_PAGE),
        rows: () => walk(ROWS, ROWS_A_PAGE),
        close: async () => {},
      }
    },
  }
}

async function* pages(
  read: (after: string) => Promise<Row[]>,
  most: number,
  signal: WalkOptions['signal'],
): AsyncGenerator<ListedPage> {
  for (let after = ''; ; ) {
    signal.throwIfAborted()
    const [page] = (await read(after)) as [Row]
    if (page.rows > 0) yield { ...page, text: Buffer.from(page.text, 'latin1') }
    if (page.rows < most) return
    after = page.last
  }
}
