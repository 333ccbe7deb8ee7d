/** Opens a store in a PostgreSQL: its tables in the current schema of the connection. */

import { StoreFault } from '../fault.ts'
import type { OpenOptions } from '../options.ts'
import type { Store } from '../store.ts'
import { shown } from '../url.ts'
import { archiveOf } from './archive.ts'
import { type Database, openDatabase } from './database.ts'
import { factsOf } from './facts.ts'
import { frontierOf } from './frontier.ts'
import { openLedger } from './ledger.ts'
import { migrate, PARTS, pending } from './migrate.ts'

/** Connections of a process that was not told how many. */
const POOL = 8

export async function openPostgres(url: string, options: OpenOptions): Promise<Store> {
  const { secret, now, demo = false, pool = POOL } = options
  const database = await openDatabase(url, { pool, who: 'domaindex' })
  try {
    await bringUp(database, url, demo)
    const ledger = await openLedger(database, { secret, now })
    return {
      frontier: frontierOf(database),
      facts: factsOf(database),
      ledger,
      archive: archiveOf(database),
      now: now ? async () => now() : database.now,
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

/** Makes the tables where there are none, as another process may do at the same time. */
async function bringUp(database: Database, url: string, demo: boolean): Promise<void> {
  for (const [part, folder] of PARTS) {
    const lacking = await pending(database, part, folder)
    if (lacking.length > 0 && lacking[0]!.number !== 1)
      throw new StoreFault(`${shown(url)} is of an older release: run domaindex migrate`)
    if (lacking.length === 0) continue
    await migrate(database, part, folder)
    if (demo && part === 'facts')
      await database.transaction((session) =>
        session.script(`insert into mark values ('demo', 'yes') on conflict do nothing`),
      )
  }
  const [mark] = await database.read({ name: 'open.mark', text: `select 1 from mark where name = 'demo'` })
  if (mark && !demo)
    throw new StoreFault(`${shown(url)} holds the demo's made-up world: name another store with DOMAINDEX_STORE`)
}
