/** A store that random histories use one after another: each finds it open and empty. */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import pg from 'pg'
import { openStore } from '../../src/store/open.ts'
import type { Store } from '../../src/store/port/store.ts'
import { checkAll } from '../../test/store/check-all.ts'
import type { Clock, Engine } from '../../test/store/conformance/engine.ts'
import { NOW } from '../../test/store/conformance/world.ts'
import { type LeasedUnits, postgresLeasedUnits, sqliteLeasedUnits } from '../../test/store/ledger/leased-units.ts'
import { FACT_TABLES } from '../../test/store/tables.ts'
import { startPostgresServer } from './postgres.ts'

/** A database on one engine. `empty` deletes what a history wrote. */
type TestDatabase = { url: string; leasedUnits: LeasedUnits; empty(): Promise<void>; end(): Promise<void> }

export type ReusedStore = Pick<Engine, 'open'> & {
  /** Opens one more instance on the same store. The caller closes it. */
  openInstance(clock: Clock): Promise<Store>
  leasedUnits: LeasedUnits
  end(): Promise<void>
}

const OPTIONS = {
  access: 'write',
  ledger: 'own',
  secret: 'a secret for the bench that is long enough',
  pool: 2,
} as const
/** Tables that histories write to on both engines. SQLITE_TABLES exist on SQLite only. */
const TABLES = [...FACT_TABLES, 'page_document', 'orphan_document']
const SQLITE_TABLES = ['pending_name', 'pending_removal', 'sorted_name']

/** Creates a store. Its two instances stay open between histories, and open again only if a history asks for it. */
export async function openReusedStore(engine: 'sqlite' | 'postgres'): Promise<ReusedStore> {
  const folder = mkdtempSync(join(tmpdir(), 'domaindex-histories-'))
  const testDatabase = await (engine === 'postgres' ? onPostgres(folder) : onSqlite(folder))
  const openInstance = (clock: Clock): Promise<Store> =>
    openStore(testDatabase.url, { ...OPTIONS, now: () => clock.now })
  const openInstances = async () => [await openInstance({ now: NOW }), await openInstance({ now: NOW })] as const
  let instances = await openInstances()
  const closeInstances = async () => {
    for (const store of instances) await store.close()
  }
  return {
    openInstance,
    leasedUnits: testDatabase.leasedUnits,
    async open() {
      return {
        url: testDatabase.url,
        store: instances[0],
        another: async () => instances[1],
        check: async () => (await checkAll(instances[1])).faults,
        async reopen() {
          await closeInstances()
          instances = await openInstances()
          return instances[0]
        },
        close: testDatabase.empty,
      }
    },
    async end() {
      await closeInstances()
      await testDatabase.end()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

async function onSqlite(folder: string): Promise<TestDatabase> {
  const path = join(folder, 'store.db')
  const url = `sqlite:${path}`
  await (await openStore(url, OPTIONS)).close()
  const database = new DatabaseSync(path, { timeout: 10_000 })
  const deletions = [...TABLES, ...SQLITE_TABLES].map((table) => database.prepare(`delete from ${table}`))
  return {
    url,
    leasedUnits: sqliteLeasedUnits(join(folder, 'store-ledger.db')),
    async empty() {
      database.exec('begin immediate')
      for (const deletion of deletions) deletion.run()
      database.exec('commit')
    },
    end: async () => database.close(),
  }
}

async function onPostgres(folder: string): Promise<TestDatabase> {
  const { running, socket } = await startPostgresServer(folder)
  const url = `postgres://bench:none@localhost/postgres?host=${socket}`
  await (await openStore(url, OPTIONS)).close()
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const deletions = TABLES.map((table) => `delete from ${table}`).join(';')
  return {
    url,
    leasedUnits: postgresLeasedUnits(client),
    async empty() {
      await client.query(deletions)
    },
    async end() {
      await client.end()
      running.child.kill('SIGINT')
      await running.exited
    },
  }
}
