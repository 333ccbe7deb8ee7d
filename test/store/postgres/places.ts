/** Places that one test after another uses, because creating the tables takes longer than most tests. */

import { after } from 'node:test'
import pg from 'pg'
import { openStore } from '../../../src/store/open.ts'
import type { Store } from '../../../src/store/port/store.ts'
import { checkAll } from '../check-all.ts'
import type { Clock, Engine, Opened } from '../conformance/engine.ts'
import { openedAt } from '../conformance/opened-store.ts'
import { FACT_TABLES } from '../tables.ts'
import { type Place, type PostgresServer, postgresServer } from './server.ts'

/** Changes each opened instance of a store. */
type Wrap = (store: Store, url: string, clock: Clock) => Promise<Store>

const SIMILAR = [
  'page_document',
  'document',
  'orphan_document',
  'document_tombstone',
  'segment',
  'posting',
  'document_frequency',
]
const TABLES = [
  ...FACT_TABLES,
  ...['crawler', 'probe_outcome', 'job_run', 'certificate_log', 'crawl_request', 'lookup_request_count', 'account'],
  ...['watch', 'watch_removal', 'event', 'event_count', 'webhook', 'delivery', 'delivery_count', 'digest', 'feed'],
  ...SIMILAR,
]
const LEASES = `update slot_lease
    set holder = null, fence = 0, expires_at = null, next_sweep = 0, last_sweep = null, counts = null
    where (holder, fence, expires_at, next_sweep, last_sweep, counts) is distinct from (null, 0, null, 0, null, null);
  update named_lock set holder = null, fence = 0, expires_at = null
    where (holder, fence, expires_at) is distinct from (null, 0, null);
  delete from metadata where name in ('indexed_until', 'pruned_until') or name like 'job:%'`
const VACUUM = `vacuum ${[...TABLES, 'slot_lease', 'named_lock', 'metadata'].join(', ')}`
const EMPTY = [LEASES, ...TABLES.map((table) => `delete from ${table}`)].join(';')
/** A table becomes slow after this many deletions, because the server vacuums nothing by itself. */
const MANY = 1_000
/** Deletions of several tests after which vacuuming takes less time than it saves. */
const SOME = 500

/** A place with a connection that stays open: a new one would read the catalog of each table again. */
type ConnectedPlace = Place & { run(statements: string): Promise<(number | null)[]> }
/**
 * The same with an instance for `check`, which stays open for the same reason. `deleted`: the rows that were deleted since
 * the tables were vacuumed.
 */
type ReusedPlace = ConnectedPlace & { checker?: Promise<Store>; deleted?: number }

/** `empty`: receives places that are empty again. A place with many rows is dropped. */
function openAt(place: ReusedPlace, clock: Clock, empty: ReusedPlace[], wrap: Wrap): Promise<Opened> {
  const now = () => clock.now
  const remove = async () => {
    const counts = await place.run(EMPTY)
    if (counts.some((count) => count! > MANY)) return dropReused(place)
    const deleted = counts.reduce<number>((sum, count) => sum + count!, place.deleted ?? 0)
    if (deleted > SOME) await place.run(VACUUM)
    place.deleted = deleted > SOME ? 0 : deleted
    empty.push(place)
  }
  const check = async () => {
    const open = () => openStore(place.url, { access: 'read', ledger: 'own', secret: null, pool: 2 })
    place.checker ??= open().then((store) => wrap(store, place.url, clock))
    return (await checkAll(await place.checker)).faults
  }
  return openedAt(place.url, { now, pool: 2 }, remove, { wrap: (store) => wrap(store, place.url, clock), check })
}

async function dropReused(place: ReusedPlace): Promise<void> {
  await (await place.checker)?.close()
  await place.drop()
}

/** Runs statements and returns how many rows each changed. */
export async function run(url: string, statements: string): Promise<(number | null)[]> {
  const place = await connect({ url, drop: async () => {} })
  try {
    return await place.run(statements)
  } finally {
    await place.drop()
  }
}

/** Opens the connection of a place. `drop` closes it and drops the place. */
async function connect({ url, drop }: Place): Promise<ConnectedPlace> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  return {
    url,
    async run(statements) {
      const results: pg.QueryResult | pg.QueryResult[] = await client.query(statements)
      return [results].flat().map(({ rowCount }) => rowCount)
    },
    async drop() {
      await client.end()
      await drop()
    },
  }
}

/**
 * Opens stores in places that `make` creates. One test after another uses them, and the end of the suite drops them.
 */
export function openedInReusedPlaces(
  make: (server: PostgresServer) => Promise<Place>,
  wrap: Wrap = async (store) => store,
): Engine['open'] {
  const empty: ReusedPlace[] = []
  after(async () => {
    for (const place of empty) await dropReused(place)
  })
  return async (clock) => openAt(empty.pop() ?? (await connect(await make(await postgresServer()))), clock, empty, wrap)
}
