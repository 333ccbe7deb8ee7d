/** A store that one random history after another uses: the next one finds it open and empty. */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import pg from 'pg'
import { openStore } from '../../src/store/open.ts'
import type { Store } from '../../src/store/port/store.ts'
import type { Clock, Engine } from '../../test/store/conformance/engine.ts'
import { NOW } from '../../test/store/conformance/world.ts'
import { FACT_TABLES } from '../../test/store/tables.ts'
import { startServer } from './postgres.ts'

/** A place that histories happen in one after another; `empty` takes away what one left. */
type Place = { url: string; empty(): Promise<void>; end(): Promise<void> }

export type EmptiedStore = Pick<Engine, 'open'> & {
  /** Opens one more instance on the same store. The caller closes it. */
  openOne(clock: Clock): Promise<Store>
  end(): Promise<void>
}

const OPTIONS = {
  access: 'write',
  ledger: 'own',
  secret: 'a secret for the bench that is long enough',
  pool: 2,
} as const
/** Tables that a history fills, on either engine; LISTING are SQLite's. */
const TABLES = [...FACT_TABLES, 'page_document', 'orphan_document']
const LISTING = ['pending_name', 'pending_removal', 'sorted_name']

/** Creates a store. Its two instances stay open between histories, and open again only if a history asks for it. */
export async function emptiedStore(engine: 'sqlite' | 'postgres'): Promise<EmptiedStore> {
  const folder = mkdtempSync(join(tmpdir(), 'domaindex-histories-'))
  const place = await (engine === 'postgres' ? onPostgres(folder) : onSqlite(folder))
  const openOne = (clock: Clock): Promise<Store> => openStore(place.url, { ...OPTIONS, now: () => clock.now })
  const openBoth = async () => [await openOne({ now: NOW }), await openOne({ now: NOW })] as const
  let both = await openBoth()
  const closeBoth = async () => {
    for (const store of both) await store.close()
  }
  return {
    openOne,
    async open() {
      return {
        url: place.url,
        store: both[0],
        another: async () => both[1],
        async reopen() {
          await closeBoth()
          both = await openBoth()
          return both[0]
        },
        close: place.empty,
      }
    },
    async end() {
      await closeBoth()
      await place.end()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

async function onSqlite(folder: string): Promise<Place> {
  const path = join(folder, 'store.db')
  const url = `sqlite:${path}`
  await (await openStore(url, OPTIONS)).close()
  const database = new DatabaseSync(path, { timeout: 10_000 })
  const deletions = [...TABLES, ...LISTING].map((table) => database.prepare(`delete from ${table}`))
  return {
    url,
    async empty() {
      database.exec('begin immediate')
      for (const deletion of deletions) deletion.run()
      database.exec('commit')
    },
    end: async () => database.close(),
  }
}

async function onPostgres(folder: string): Promise<Place> {
  const { started, socket } = await startServer(folder)
  const url = `postgres://bench:none@localhost/postgres?host=${socket}`
  await (await openStore(url, OPTIONS)).close()
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const deletions = TABLES.map((table) => `delete from ${table}`).join(';')
  return {
    url,
    async empty() {
      await client.query(deletions)
    },
    async end() {
      await client.end()
      started.child.kill('SIGINT')
      await started.ended
    },
  }
}
