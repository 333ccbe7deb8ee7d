/**
 * A migration from the first release is killed at steps of every stage, also while it distributes the tables with Citus.
 * Run again, it ends with a complete store.
 */

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
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
import { faults, NOW } from '../conformance/world.ts'
import { CITUS_STUBS, withStubs } from '../postgres/citus/stubs.ts'
import { noPostgres, postgresServer } from '../postgres/server.ts'

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

/** Kills one migration, runs it again, and checks the store. */
async function killAndResume(first: Map<string, URL>, step: number, stubs: boolean): Promise<boolean> {
  const { url, drop } = await (await postgresServer()).schema()
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    const database = await openDatabase(url, { pool: 2, applicationName: 'test' })
    for (const [part] of SCHEMA_PARTS) await applyPostgresMigrations(database, part, first.get(part)!)
    await database.close()
    await client.query(ROW)
    if (stubs) {
      await migrateStore(url, false) // so that only the distribution is left
      await client.query(CITUS_STUBS)
    }
    const place = stubs ? withStubs(url) : url
    const isKilled = await killMigration(place, step)
    await migrateStore(place, false, () => {})
    assert.deepEqual(await migrateStore(place, true), [], `step ${step}`)
    if (stubs) await expectDistributed(client, step)
    const store = await openStore(url, { access: 'write', ledger: 'own', secret: null, now: () => NOW })
    assert.equal((await store.observations.crawlStates([ONE]))[0]!.version, 3)
    assert.deepEqual(await faults(store), [], `step ${step}`)
    await store.close()
    return isKilled
  } finally {
    await client.end()
    await drop()
  }
}

/** Every table was distributed once, and its former rows are removed. */
async function expectDistributed(client: pg.Client, step: number): Promise<void> {
  const { rows } = await client.query(`select argument from citus_call where name = 'create_distributed_table'`)
  assert.deepEqual(
    rows.map(({ argument }) => argument),
    DISTRIBUTED_TABLES,
    `step ${step}`,
  )
  const added = await client.query(`select 1 from citus_call where name = 'citus_add_local_table_to_metadata'`)
  assert.deepEqual([added.rowCount, (await client.query('select from former_rows')).rowCount], [1, 0], `step ${step}`)
}

/** Kills migrations at every `stride`-th step, two at a time. */
async function killAtSteps(t: TestContext, stride: number, stubs: boolean): Promise<void> {
  await postgresServer() // for the whole file
  const first = firstMigrations(t)
  const killAt = (step: number) => killAndResume(first, step, stubs)
  let step = 1
  while ((await Promise.all([killAt(step), killAt(step + stride)])).every(Boolean)) step += 2 * stride
  t.diagnostic(`killed at every ${stride}th step up to ${step}`)
  assert.ok(step > 2 * stride)
}

test('a killed migration is completed by the next one', { skip: noPostgres }, (t) => killAtSteps(t, 17, false))

test(
  'a migration that is killed while it distributes the tables is completed by the next one',
  {
    skip: noPostgres || (process.env.DOMAINDEX_TEST_POSTGRES ? 'the server may have Citus itself' : false),
  },
  (t) => killAtSteps(t, 6, true),
)
