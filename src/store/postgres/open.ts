/** Opens a store in a PostgreSQL: its tables in the current schema of the connection. */

import { StoreFault } from '../fault.ts'
import type { OpenOptions } from '../options.ts'
import type { Store } from '../store.ts'
import { shown } from '../url.ts'
import { archiveOf } from './archive.ts'
import { type Database, openDatabase } from './database.ts'
import { factsOf } from './facts.ts'
import { frontierOf } from './frontier.ts'
import { indexingOf } from './indexing.ts'
import { jobsOf } from './jobs.ts'
import { openLedger } from './ledger.ts'
import { listingOf } from './listing.ts'
import { migrate, PARTS, pending } from './migrate.ts'
import { probe } from './probe.ts'
import { scheduleOf } from './schedule.ts'
import { similarOf } from './similar.ts'

/** Connections of a process that was not told how many. */
const POOL = 8

/** The oldest that is tried in the tests. */
const OLDEST = 15

const SERVER = {
  name: 'open.server',
  text: `select current_setting('server_encoding') as encoding, current_setting('server_version_num')::int / 10000 as version`,
}
const MARK_DEMO = `insert into mark (name, value) values ('demo', 'yes') on conflict do nothing`

export async function openPostgres(url: string, options: OpenOptions): Promise<Store> {
  const { secret, now, demo = false, pool = POOL, silence } = options
  const database = await openDatabase(url, { pool, who: 'domaindex', silence })
  try {
    if ((await bringUp(database, url)) && demo) await database.transaction((session) => session.script(MARK_DEMO))
    await judgeMarks(database, url, demo)
    const ledger = await openLedger(database, { secret, now })
    return {
      frontier: frontierOf(database),
      schedule: scheduleOf(database, now),
      facts: factsOf(database),
      ledger,
      wishes: ledger,
      listing: listingOf({ ...database, now: now ? async () => now() : database.now }),
      archive: archiveOf(database),
      jobs: jobsOf(database, now),
      similar: similarOf(database),
      indexing: indexingOf(database),
      now: now ? async () => now() : database.now,
      probe: () => probe(database),
      async close() {
        await ledger.close()
        await database.close()
      },
    }
  } catch (error) {
    await database.close()
    throw error
  }
}

/** Makes the tables where there are none, as another process may do at the same time; true where it made them. Throws StoreFault. */
export async function bringUp(database: Database, url: string): Promise<boolean> {
  const [server] = await database.read<Server>(SERVER)
  const unfit = whyUnfit(server!)
  if (unfit !== null) throw new StoreFault(`${shown(url)} ${unfit}`)
  let made = false
  for (const [part, folder] of PARTS) {
    const lacking = await pending(database, part, folder)
    if (lacking.length === 0) continue
    if (lacking[0]!.number !== 1) throw new StoreFault(`${shown(url)} is of an older release: run domaindex migrate`)
    await migrate(database, part, folder)
    made = true
  }
  return made
}

type Server = { encoding: string; version: number }

/** What keeps a database from being a store, and what to do about it; null where nothing does. */
export function whyUnfit({ encoding, version }: Server): string | null {
  if (version < OLDEST) return `is PostgreSQL ${version}: ${OLDEST} or later is needed`
  return encoding === 'UTF8'
    ? null
    : `has encoding ${encoding}: make the database with createdb --encoding=UTF8 --template=template0`
}

/** Throws StoreFault where the store is no whole one of one's own. */
export async function judgeMarks(database: Database, url: string, demo: boolean): Promise<void> {
  const marks = await database.read<{ name: string }>({ name: 'open.marks', text: 'select name from mark' })
  if (!demo && marks.some(({ name }) => name === 'demo'))
    throw new StoreFault(`${shown(url)} holds the demo's made-up world: name another store with DOMAINDEX_STORE`)
  if (marks.some(({ name }) => name === 'copy'))
    throw new StoreFault(`${shown(url)} holds a part of another store: run domaindex copy again, which goes on with it`)
}
