/** The distribution over Citus. It runs if DOMAINDEX_TEST_POSTGRES names a database with the extension. */

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { migrateStore, openStore } from '../../../src/store/open.ts'
import { type Database, openDatabase } from '../../../src/store/postgres/database/database.ts'
import {
  DISTRIBUTED_TABLES,
  DISTRIBUTION_STEP,
  undistributedTables,
} from '../../../src/store/postgres/database/distribution.ts'
import { applyPostgresMigrations, SCHEMA_PARTS } from '../../../src/store/postgres/database/migrate.ts'
import { PART_VALUES } from '../../../src/store/postgres/database/partition.ts'
import { noPostgres, postgresServer } from './server.ts'

const OPTIONS = { access: 'write', ledger: 'own', secret: null } as const
const NO_CITUS = 'the database has no Citus: name one that has it with DOMAINDEX_TEST_POSTGRES'

async function emptyPlace(t: TestContext): Promise<{ url: string; database: Database }> {
  const { url, drop } = await (await postgresServer()).schema()
  const database = await openDatabase(url, { pool: 2, applicationName: 'test' })
  t.after(() => database.close().then(drop))
  return { url, database }
}

test('without Citus all tables stay as they are, in one shard', { skip: noPostgres }, async (t) => {
  const { url, database } = await emptyPlace(t)
  if (database.hasCitus) return t.skip('the database has Citus')
  await (await openStore(url, OPTIONS)).close()
  assert.deepEqual(await undistributedTables(database), [])
  assert.deepEqual(await migrateStore(url, true), [])
  assert.deepEqual((await database.shards()).groups, [PART_VALUES])
})

test('a new store is distributed, evenly and all tables alike', { skip: noPostgres }, async (t) => {
  const { url, database } = await emptyPlace(t)
  if (!database.hasCitus) return t.skip(NO_CITUS)
  await (await openStore(url, OPTIONS)).close()
  assert.deepEqual(await undistributedTables(database), [])
  const groups = await database.read<{ tables: number }>({
    name: 'test.colocation',
    text: `select count(*)::integer as tables from pg_dist_partition p join pg_class c on c.oid = p.logicalrelid
      where c.relnamespace = current_schema()::regnamespace and p.partmethod = 'h' group by p.colocationid`,
  })
  assert.deepEqual(groups, [{ tables: DISTRIBUTED_TABLES.length }])
  const shards = await database.shards()
  const sizes = new Set(shards.groups.map((parts) => parts.length))
  assert.deepEqual([...sizes], [PART_VALUES.length / shards.groups.length])
  assert.deepEqual(
    shards.groups.flat().sort((a, b) => a - b),
    PART_VALUES,
  )
})

test('migrate distributes the tables of an existing store, and its plan says so', { skip: noPostgres }, async (t) => {
  const { url, database } = await emptyPlace(t)
  if (!database.hasCitus) return t.skip(NO_CITUS)
  for (const [part, folder] of SCHEMA_PARTS) await applyPostgresMigrations(database, part, folder)
  assert.deepEqual(await migrateStore(url, true), [DISTRIBUTION_STEP])
  assert.deepEqual(await migrateStore(url, false), [DISTRIBUTION_STEP])
  assert.deepEqual(await migrateStore(url, true), [])
})
