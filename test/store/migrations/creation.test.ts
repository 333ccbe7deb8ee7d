/**
 * The creation of a store is killed at steps of every stage: it leaves no store or a complete one, never a part. Each run
 * starts at another step, so that all of them are tried in time.
 */

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import pg from 'pg'
import { migrateStore, openStore } from '../../../src/store/open.ts'
import type { StoreLocation } from '../../../src/store/port/url.ts'
import { inForm } from '../../long.ts'
import { TESTER } from '../../tester.ts'
import { faults, NOW } from '../conformance/world.ts'
import { noPostgres, postgresServer } from '../postgres/server.ts'

const OPTIONS = { access: 'write', ledger: 'own', secret: null, demo: true } as const
const ACCOUNT = { email: 'ann@example.com', role: 'user', plan: 'free', periods: [], addons: [] } as const
const PARTS = ['facts', 'ledger'] as const

/** A place for a store. `migrations`: how many of each part are applied to what is there now. */
type Place = { location: StoreLocation; migrations(): Promise<number[]>; remove(): Promise<void> }

/** Opens a store in a process that is killed before a step. Returns false if the process had fewer steps. */
async function killOpener({ location }: Place, step: number): Promise<boolean> {
  const values = [location, OPTIONS, step].map((value) => JSON.stringify(value))
  const opener = spawn(process.execPath, [join(import.meta.dirname, 'killed-opener.ts'), ...values], {
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const [code, signal] = await once(opener, 'exit')
  assert.ok(signal === 'SIGKILL' || code === 0, `the opener ended with ${code ?? signal}`)
  return signal === 'SIGKILL'
}

/** Checks that there is a complete store or nothing, and that the next command creates a complete store. */
async function expectNoPart(place: Place, all: number[], step: number): Promise<void> {
  const applied = await place.migrations()
  for (const [index, count] of applied.entries())
    assert.ok(count === 0 || count === all[index], `before step ${step}, ${PARTS[index]} has ${count} migrations`)
  const store = await openStore(place.location, OPTIONS)
  assert.notEqual(await store.ledger.as(TESTER).createAccount(ACCOUNT, NOW), null)
  assert.deepEqual(await faults(store), [])
  await store.close()
  assert.deepEqual(await place.migrations(), all)
  assert.deepEqual(await migrateStore(place.location, true), [])
  await assert.rejects(openStore(place.location, { ...OPTIONS, demo: false }), /generated data of a demo/)
}

/**
 * Kills a creation at every `stride`-th of its steps, two at a time. The number of migrations follows from the schema.
 */
async function killAtSteps(open: () => Promise<Place>, engine: string, stride: number): Promise<void> {
  const schema = join(import.meta.dirname, '../../../src/store', engine, 'schema')
  const all = await Promise.all(PARTS.map(async (part) => (await readdir(join(schema, part))).length))
  const killAt = async (step: number): Promise<boolean> => {
    const place = await open()
    try {
      const isKilled = await killOpener(place, step)
      await expectNoPart(place, all, step)
      return isKilled
    } finally {
      await place.remove()
    }
  }
  let step = randomInt(1, stride + 1)
  while ((await Promise.all([killAt(step), killAt(step + stride)])).every(Boolean)) step += 2 * stride
  assert.ok(step + stride > all[0]! + all[1]!, `a creation has at most ${step + stride} steps`)
}

async function sqlitePlace(): Promise<Place> {
  const folder = await mkdtemp(join(tmpdir(), 'domaindex-creation-'))
  await mkdir(join(folder, 'fast'))
  const files = [join(folder, 'store.db'), join(folder, 'fast', 'ledger.db')]
  return {
    location: { url: `sqlite:${files[0]}`, ledger: files[1]! },
    migrations: async () => files.map(migrationsInFile),
    remove: () => rm(folder, { recursive: true }),
  }
}

function migrationsInFile(path: string): number {
  if (!existsSync(path)) return 0
  const database = new DatabaseSync(path)
  try {
    const tables = database.prepare('select count(*) as count from sqlite_schema').get()!.count
    if (tables === 0) return 0
    const [mode] = database.prepare('pragma auto_vacuum').all()
    assert.equal(mode!.auto_vacuum, 2, 'the settings of an empty file are lost')
    return database.prepare('select count(*) as count from migration').get()!.count as number
  } finally {
    database.close()
  }
}

async function postgresPlace(): Promise<Place> {
  const { url, drop } = await (await postgresServer()).schema()
  return { location: url, migrations: () => migrationsInSchema(url), remove: drop }
}

async function migrationsInSchema(url: string): Promise<number[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    // a killed transaction is open until the server notices
    const schema = `(select to_regnamespace(current_schema())::oid)`
    const { rows: tables } = await client.query(`select 1 from pg_class where relnamespace = ${schema}`)
    if (tables.length === 0) return [0, 0]
    const { rows } = await client.query('select schema_part as part, count(*)::int as count from migration group by 1')
    return PARTS.map((part) => rows.find((row) => row.part === part)?.count ?? 0)
  } finally {
    await client.end()
  }
}

test('a killed creation leaves no store or a complete one: SQLite', () =>
  killAtSteps(sqlitePlace, 'sqlite', inForm(12, 5)))

test('a killed creation leaves no store or a complete one: PostgreSQL', { skip: noPostgres }, () =>
  killAtSteps(postgresPlace, 'postgres', inForm(50, 10)),
)
