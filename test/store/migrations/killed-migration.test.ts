/**
 * A migration from the first release is killed at steps of every stage, also while it distributes the tables with Citus.
 * Run again, it ends with a complete store. Each run starts at another step, so that all of them are tried in time.
 */

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import pg from 'pg'
import { migrateStore, openStore } from '../../../src/store/open.ts'
import { openDatabase } from '../../../src/store/postgres/database/database.ts'
import { DISTRIBUTED_TABLES } from '../../../src/store/postgres/database/distribution.ts'
import { applyPostgresMigrations, SCHEMA_PARTS } from '../../../src/store/postgres/database/migrate.ts'
import { type DomainName, slotOf } from '../../../src/values/domain-name.ts'
import { isLong } from '../../long.ts'
import { faults, NOW } from '../conformance/world.ts'
import { CITUS_STUBS, withStubs } from '../postgres/citus/stubs.ts'
import { noPostgres, type Place, postgresServer } from '../postgres/server.ts'

/** A database of another server cannot be copied if it has Citus. */
const isGiven = Boolean(process.env.DOMAINDEX_TEST_POSTGRES)
const ONE = 'one.example' as DomainName
const ROW = `insert into crawl_state (part, slot, name, id, version, clock, dns_fingerprint, web_fingerprint)
  values (${slotOf(ONE) >> 8}, ${slotOf(ONE)}, '${ONE}', null, 3, ${NOW - 86_400}, 1, 2)`

/** The first migrations of each part, in folders of their own. */
function firstMigrations(t: TestContext): Map<string, URL> {
  const folder = mkdtempSync(join(tmpdir(), 'domaindex-killed-migration-'))
  t.after(() => rmSync(folder, { recursive: true }))
  return new Map(
    SCHEMA_PARTS.map(([part, { pathname: from }]) => {
      const to = join(folder, part)
      mkdirSync(to)
      for (const file of readdirSync(from)) if (file.startsWith('0001-')) copyFileSync(join(from, file), join(to, file))
      return [part, pathToFileURL(`${to}/`)]
    }),
  )
}

/** Migrates in a process that is killed before a step. Returns false if the process had fewer steps. */
async function killMigration(url: string, step: number): Promise<boolean> {
  const values = [url, null, step].map((value) => JSON.stringify(value))
  const migrator = spawn(process.execPath, [join(import.meta.dirname, 'killed-opener.ts'), ...values], {
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const [code, signal] = await once(migrator, 'exit')
  assert.ok(signal === 'SIGKILL' || code === 0, `the migration ended with ${code ?? signal}`)
  return signal === 'SIGKILL'
}

/** A store of the first release with a row. With `stubs` it has this release's tables, and only their distribution is left. */
async function makeStore(first: Map<string, URL>, place: Place, stubs: boolean): Promise<Place> {
  const database = await openDatabase(place.url, { pool: 2, applicationName: 'test' })
  for (const [part] of SCHEMA_PARTS) await applyPostgresMigrations(database, part, first.get(part)!)
  await database.close()
  await query(place.url, ROW)
  if (stubs) {
    await migrateStore(place.url, false)
    await query(place.url, CITUS_STUBS)
  }
  return place
}

/** Kills one migration of a store, runs it again, and checks the store. */
async function killAndResume({ url, drop }: Place, step: number, stubs: boolean): Promise<boolean> {
  try {
    const place = stubs ? withStubs(url) : url
    const isKilled = await killMigration(place, step)
    await migrateStore(place, false, () => {})
    assert.deepEqual(await migrateStore(place, true), [], `step ${step}`)
    if (stubs) await expectDistributed(url, step)
    const store = await openStore(url, { access: 'write', ledger: 'own', secret: null, now: () => NOW })
    assert.equal((await store.observations.crawlStates([ONE]))[0]!.version, 3)
    assert.deepEqual(await faults(store), [], `step ${step}`)
    await store.close()
    return isKilled
  } finally {
    await drop()
  }
}

/** Runs statements on a connection of their own. */
async function query(url: string, statements: string): Promise<pg.QueryResult> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return await client.query(statements)
  } finally {
    await client.end()
  }
}

/** Every table was distributed once, and its former rows are removed. */
async function expectDistributed(url: string, step: number): Promise<void> {
  const { rows } = await query(url, `select argument from citus_call where name = 'create_distributed_table'`)
  assert.deepEqual(
    rows.map(({ argument }) => argument),
    DISTRIBUTED_TABLES,
    `step ${step}`,
  )
  const added = await query(url, `select 1 from citus_call where name = 'citus_add_local_table_to_metadata'`)
  assert.deepEqual([added.rowCount, (await query(url, 'select from former_rows')).rowCount], [1, 0], `step ${step}`)
}

/** Kills migrations at every `stride`-th step, two at a time, each time in a copy of one store. */
async function killAtSteps(t: TestContext, stride: number, stubs: boolean): Promise<void> {
  const server = await postgresServer()
  const first = firstMigrations(t)
  const made = isGiven ? null : await makeStore(first, await server.database(), stubs)
  const killAt = async (step: number) => {
    const place = made === null ? await makeStore(first, await server.schema(), stubs) : await server.copy(made)
    return killAndResume(place, step, stubs)
  }
  let step = randomInt(1, stride + 1)
  while ((await Promise.all([killAt(step), killAt(step + stride)])).every(Boolean)) step += 2 * stride
  t.diagnostic(`killed at every ${stride}th step up to ${step}`)
  assert.ok(step > 2 * stride)
}

test('a killed migration is completed by the next one', { skip: noPostgres }, (t) =>
  killAtSteps(t, isLong ? 17 : 34, false),
)

test(
  'a migration that is killed while it distributes the tables is completed by the next one',
  {
    skip: noPostgres || (isGiven ? 'the server may have Citus itself' : false),
  },
  (t) => killAtSteps(t, isLong ? 6 : 12, true),
)
