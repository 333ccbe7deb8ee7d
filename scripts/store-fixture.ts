/**
 * Makes the fixture of a release in `test/fixtures/stores/NAME/`: a small store of each engine and its answers. Later
 * releases must open it. `npx node scripts/store-fixture.ts NAME`
 */

import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import pg from 'pg'
import { makeTemporaryFolder, stopProcess } from '../bench/measure/process.ts'
import { startPostgresServer } from '../bench/world/postgres.ts'
import { openStore } from '../src/store/open.ts'
import { NOW } from '../test/store/conformance/world.ts'
import { fillFixture } from '../test/store/fixtures/fill.ts'
import { scriptOf } from '../test/store/fixtures/postgres-script.ts'
import { storedAnswers } from '../test/store/fixtures/stored-answers.ts'

const [release] = process.argv.slice(2)
if (release === undefined || !/^[\w.-]+$/.test(release)) throw new Error('name the release, as in 0.2.0')
const target = join(import.meta.dirname, '../test/fixtures/stores', release)
if (existsSync(target)) throw new Error(`${target} exists: the fixture of a release never changes`)
const folder = makeTemporaryFolder()
const { running, socket } = await startPostgresServer(folder)
try {
  mkdirSync(target, { recursive: true })
  await makeSqlite()
  await makePostgres()
} catch (error) {
  rmSync(target, { recursive: true })
  throw error
} finally {
  await stopProcess(running)
  rmSync(folder, { recursive: true })
}

async function makeSqlite(): Promise<void> {
  const path = join(folder, 'facts.db')
  await fill(`sqlite:${path}`)
  save('facts.db.gz', gzipSync(readFileSync(path), { level: 9 }))
  save('ledger.db.gz', gzipSync(readFileSync(join(folder, 'facts-ledger.db')), { level: 9 }))
  save('sqlite.json', toJson(await storedAnswers(`sqlite:${path}`)))
}

async function makePostgres(): Promise<void> {
  const urlOf = (database: string): string => `postgres://bench@localhost/${database}?host=${socket}`
  const client = new pg.Client({ connectionString: urlOf('postgres') })
  await client.connect()
  await client.query('create database fixture')
  await client.end()
  await fill(urlOf('fixture'))
  save('postgres.sql.gz', gzipSync(await scriptOf(urlOf('fixture')), { level: 9 }))
  save('postgres.json', toJson(await storedAnswers(urlOf('fixture'))))
}

/** Closing a SQLite store moves its write-ahead log into the files. */
async function fill(url: string): Promise<void> {
  const store = await openStore(url, { access: 'write', ledger: 'own', secret: null, now: () => NOW })
  try {
    await fillFixture(store)
  } finally {
    await store.close()
  }
}

function save(file: string, content: string | Uint8Array): void {
  writeFileSync(join(target, file), content)
}

function toJson(value: unknown): string {
  return `${JSON.stringify(value, null, 1)}\n`
}
