/** The listing on SQLite: names that came are brought in order, then pages are ranges of `listed`, written by SQLite itself. */

import { rmSync } from 'node:fs'
import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type { Instant } from '../../words/time.ts'
import type { ListedPage, Listing, Walk, WalkOptions } from '../listing.ts'
import { mergeArrivals } from './arrivals.ts'
import { connect } from './connection.ts'
import { asidePath, attachAside, expectRoomAside, gather, NOTHING_TOLD, sorter } from './gathered.ts'
import { logOf } from './log.ts'

/** Names a page: some 20 milliseconds with facts. Larger ones cost memory, and gain nothing. */
const PAGE = 10000
/** Kibibytes of pages that the walk keeps in memory: it reads each once. */
const CACHE = 4_096

const NAMES = `select count(*) as rows, min(name) as first, max(name) as last, cast(group_concat(name, x'0a') || x'0a' as blob) as text
  from (select name from listed where name > ? order by name limit ${PAGE})`
/** Of the range that is sorted, up to the first name behind it. */
const ROWS = `select count(*) as rows, min(name) as first, max(name) as last,
    cast(group_concat(name || coalesce(told, '${NOTHING_TOLD}'), x'0a') || x'0a' as blob) as text
  from (select l.name, s.told from (select name from listed where name > ? and (?2 is null or name < ?2) order by name limit ${PAGE}) l
    left join sorted s on s.name = l.name order by l.name)`

export function listingOf(path: string, now: () => Instant): Listing {
  return {
    async begin(options) {
      const database = connect(path)
      try {
        database.exec(`pragma cache_size = -${CACHE}`)
        const begun = now()
        await mergeArrivals(database, logOf(database, path), options)
        return walkOf(database, path, begun, options)
      } catch (error) {
        database.close()
        throw error
      }
    },
  }
}

function walkOf(database: DatabaseSync, path: string, begun: Instant, options: WalkOptions): Walk {
  const row = database.prepare(`select value from mark where name = 'listed'`).get() as { value: string } | undefined
  const about = Number(row?.value ?? 0)
  let gathered: Promise<number> | null = null
  const ranges = (): Promise<number> => {
    gathered ??= gatherBeside(database, path, about, options)
    return gathered
  }
  return {
    begun,
    about,
    names() {
      const read = database.prepare(NAMES)
      return pages((after) => read.get(after), '', options)
    },
    rows: () => rowsOf(database, ranges, options),
    async close() {
      database.close()
      rmSync(asidePath(path), { force: true })
    },
  }
}

/** How many ranges there are. */
function gatherBeside(database: DatabaseSync, path: string, about: number, options: WalkOptions): Promise<number> {
  expectRoomAside(path, about)
  attachAside(database, path)
  return gather(database, about, options)
}

async function* rowsOf(
  database: DatabaseSync,
  ranges: () => Promise<number>,
  options: WalkOptions,
): AsyncGenerator<ListedPage> {
  const count = await ranges()
  const sort = sorter(database)
  const read = database.prepare(ROWS)
  let last = ''
  for (let range = 0; range < count; range++) {
    const end = sort(range)
    for await (const page of pages((after) => read.get(after, end), last, options)) {
      last = page.last
      yield page
    }
  }
}

async function* pages(
  read: (after: string) => ReturnType<StatementSync['get']>,
  from: string,
  { signal }: WalkOptions,
): AsyncGenerator<ListedPage> {
  for (let after = from; ; ) {
    signal.throwIfAborted()
    const page = { ...read(after) } as ListedPage
    if (page.rows > 0) yield page
    if (page.rows < PAGE) return
    after = page.last
  }
}
