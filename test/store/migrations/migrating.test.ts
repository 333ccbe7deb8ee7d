/** Migrations that have to wait, and migrations that fail. */

import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import pg from 'pg'
import { StoreFault } from '../../../src/store/port/fault.ts'
import { openDatabase } from '../../../src/store/postgres/database/database.ts'
import { applyPostgresMigrations as migratePostgres } from '../../../src/store/postgres/database/migrate.ts'
import { applySqliteMigrations as migrateSqlite } from '../../../src/store/sqlite/database/migrate.ts'
import { noPostgres, postgresServer } from '../postgres/server.ts'

const FIRST = 'create table thing (number integer primary key);'
const SECOND = 'alter table thing add column note text;'

/** A folder `facts` with migrations. */
function folderOf(t: TestContext, ...scripts: string[]): URL {
  const parent = mkdtempSync(join(tmpdir(), 'domaindex-migrating-'))
  t.after(() => rmSync(parent, { recursive: true }))
  const folder = join(parent, 'facts')
  mkdirSync(folder)
  for (const [index, sql] of scripts.entries()) writeFileSync(join(folder, `000${index + 1}-step.sql`), sql)
  return pathToFileURL(`${folder}/`)
}

async function databaseOf(t: TestContext) {
  const { url, drop } = await (await postgresServer()).schema()
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const database = await openDatabase(url, { pool: 2, applicationName: 'migrating' })
  t.after(async () => {
    await database.close()
    await client.end()
    await drop()
  })
  return { database, client, url }
}

test('a migration behind a long reader releases its lock, reports it, lets others pass, and is applied later', {
  skip: noPostgres,
}, async (t) => {
  const { database, client, url } = await databaseOf(t)
  await migratePostgres(database, 'facts', folderOf(t, FIRST))
  await client.query('begin; select * from thing')
  const other = new pg.Client({ connectionString: url })
  await other.connect()
  const reported: string[] = []
  const wait = async (): Promise<void> => {
    await other.query('select * from thing') // waits for no lock
    if (reported.length === 2) await client.query('commit')
  }
  const tell = (words: string): void => void reported.push(words)
  const done = await migratePostgres(database, 'facts', folderOf(t, FIRST, SECOND), { report: tell, wait })
  await other.end()
  assert.deepEqual([done.length, reported.length], [1, 2])
  assert.match(
    reported[0]!,
    /^facts\/0002-step\.sql waits for other processes that use its tables, retrying \(1 of 150\)$/,
  )
  await client.query('select note from thing')
})

test('a migration that never gets its lock says what to do and changes nothing', {
  skip: noPostgres,
}, async (t) => {
  const { database, client } = await databaseOf(t)
  await migratePostgres(database, 'facts', folderOf(t, FIRST))
  await client.query('begin; select * from thing')
  const folder = folderOf(t, FIRST, `create table more (number integer); ${SECOND}`)
  await assert.rejects(migratePostgres(database, 'facts', folder, { tries: 2, wait: async () => {} }), (error) => {
    assert.ok(error instanceof StoreFault)
    assert.match(
      error.message,
      /^migration facts\/0002-step\.sql failed: other processes use its tables for too long: end them/,
    )
    return true
  })
  await client.query('commit')
  await assert.rejects(client.query('select * from more'))
  assert.equal((await migratePostgres(database, 'facts', folder)).length, 1)
})

const SENTENCE =
  /^migration facts\/0002-step\.sql failed: .*(nowhere|no such table).*; it was rolled back, earlier ones stay applied: fix the cause, then run domaindex migrate again$/

test('a failed migration is reported in a sentence: PostgreSQL', { skip: noPostgres }, async (t) => {
  const { database, client } = await databaseOf(t)
  const folder = folderOf(t, FIRST, 'alter table thing add column note text; alter table nowhere add column note text;')
  await assert.rejects(migratePostgres(database, 'facts', folder), (error) => {
    assert.ok(error instanceof StoreFault)
    assert.match(error.message, SENTENCE)
    return true
  })
  assert.equal((await client.query('select number from migration')).rowCount, 1)
  await assert.rejects(client.query('select note from thing'))
})

test('a failed migration is reported in a sentence: SQLite', (t) => {
  const database = new DatabaseSync(':memory:')
  t.after(() => database.close())
  const folder = folderOf(t, FIRST, 'alter table thing add column note text; alter table nowhere add column note text;')
  assert.throws(
    () => migrateSqlite(database, folder),
    (error) => error instanceof StoreFault && SENTENCE.test(error.message),
  )
  assert.equal(database.prepare('select number from migration').all().length, 1)
  assert.throws(() => database.prepare('select note from thing'))
})
