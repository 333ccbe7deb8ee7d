/** A store that a later release has expanded: this release opens it, and every response and write is as before. */

import assert from 'node:assert/strict'
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, suite, type TestContext, test } from 'node:test'
import pg from 'pg'
import { migrateStore, openStore } from '../../../src/store/open.ts'
import type { Clock, Engine } from '../conformance/engine.ts'
import { openedAt } from '../conformance/opened-store.ts'
import { states } from '../conformance/reading/states.ts'
import { jobs } from '../conformance/schedule/jobs.ts'
import { filings } from '../conformance/similar/filings.ts'
import { forgetting } from '../conformance/writing/forgetting.ts'
import { writing } from '../conformance/writing/writing.ts'
import { accounts } from '../ledger/accounts.ts'
import { crawlRequests } from '../ledger/crawl-requests.ts'
import { downloads } from '../ledger/downloads.ts'
import type { LedgerAndCrawlRequests, OpenedLedger } from '../ledger/engine.ts'
import { tokens } from '../ledger/tokens.ts'
import { usage } from '../ledger/usage.ts'
import { openedInReusedPlaces } from '../postgres/places.ts'
import { type Place as Database, noOtherCollation, noPostgres, postgresServer } from '../postgres/server.ts'

const OPTIONS = { access: 'write', ledger: 'own', secret: null } as const
/** The columns that the test's migration adds to every table. */
const COLUMNS = ['extra_note text', 'extra_count integer not null default 7']
/** An insert without column names: no bracket follows the name or the alias of the table. */
const NAMELESS = /insert\s+(?:or\s+\w+\s+)?into\s+\S+\s+(?!\(|as\s+\w+\s*\()\w+/gi

/**
 * One engine: creates an empty store, runs SQL on every part of it, and returns the SQL that the store itself holds.
 */
type Place = {
  url: string
  /** Calls `work` for each part of the store with its tables and a way to run SQL. */
  parts(work: (part: Part) => Promise<void>): Promise<void>
  remove(): Promise<void>
}
type Part = { tables: string[]; routines: string[]; run(sql: string): Promise<void>; note(name: string): Promise<void> }

/** A new folder, with the files of another one if given. */
async function sqlitePlace(of?: string): Promise<Place & { folder: string }> {
  const folder = mkdtempSync(join(tmpdir(), 'domaindex-expanded-'))
  if (of !== undefined) cpSync(of, folder, { recursive: true })
  const path = join(folder, 'store.db')
  return {
    folder,
    url: `sqlite:${path}`,
    async parts(work) {
      for (const file of [path, join(folder, 'store-ledger.db')]) {
        const database = new DatabaseSync(file)
        const named = (type: string) =>
          database.prepare(`select name, sql from sqlite_schema where type = ? and name not like 'sqlite_%'`).all(type)
        await work({
          tables: named('table').map(({ name }) => String(name)),
          routines: named('trigger').map(({ sql }) => String(sql)),
          run: async (sql) => database.exec(sql),
          note: async (name) =>
            database.exec(
              `insert into migration (number, name, checksum, applied_at) values (${Number.parseInt(name, 10)}, '${name}', '', '')`,
            ),
        })
        database.close()
      }
    },
    remove: async () => rmSync(folder, { recursive: true }),
  }
}

async function postgresPlace(): Promise<Place> {
  return placeIn(await (await postgresServer()).tables())
}

function placeIn({ url, drop }: { url: string; drop(): Promise<void> }): Place {
  return {
    url,
    async parts(work) {
      const client = new pg.Client({ connectionString: url })
      await client.connect()
      const column = async (sql: string) => (await client.query({ text: sql, rowMode: 'array' })).rows.flat()
      await work({
        tables: await column('select tablename from pg_tables where schemaname = current_schema()'),
        routines: await column('select prosrc from pg_proc where pronamespace = current_schema()::regnamespace'),
        run: async (sql) => void (await client.query(sql)),
        note: async (name) => {
          const values = `${Number.parseInt(name, 10)}, '${name}', '', ''`
          for (const part of ['facts', 'ledger'])
            await client.query(
              `insert into migration (schema_part, number, name, checksum, applied_at) values ('${part}', ${values})`,
            )
        },
      })
      await client.end()
    },
    remove: drop,
  }
}

/** Creates the store and expands it. */
async function expanded(place: Place): Promise<void> {
  await (await openStore(place.url, OPTIONS)).close()
  await place.parts(async ({ tables, run, note }) => {
    assert.ok(tables.length > 10)
    for (const table of tables) for (const column of COLUMNS) await run(`alter table ${table} add column ${column}`)
    await run('create table if not exists extra (number integer primary key, note text)')
    await note('9999-made-up.expand.sql')
  })
}

/** Opens a new place for each test. */
function opener(begin: () => Promise<Place>): Engine['open'] {
  return async (clock) => {
    const place = await begin()
    return openedAt(place.url, { now: () => clock.now, pool: 2 }, () => place.remove())
  }
}

/** Copies of one expanded store, which is created once. */
function copiesOfSqlite(): () => Promise<Place> {
  let made: Promise<Place & { folder: string }> | undefined
  after(async () => void (await (await made)?.remove()))
  const make = async () => {
    const place = await sqlitePlace()
    await expanded(place)
    return place
  }
  return async () => {
    made ??= make()
    return sqlitePlace((await made).folder)
  }
}

/** The same. An external server may forbid copies of databases, so a schema is expanded each time. */
function copiesOfPostgres(): () => Promise<Place> {
  let made: Promise<Database> | undefined
  after(async () => void (await (await made)?.drop()))
  const make = async () => {
    const database = await (await postgresServer()).database()
    await expanded(placeIn(database))
    return database
  }
  return async () => {
    if (noOtherCollation) {
      const place = await postgresPlace()
      await expanded(place)
      return place
    }
    made ??= make()
    return placeIn(await (await postgresServer()).copy(await made))
  }
}

function conformsExpanded(name: string, begin: () => Promise<Place>, open = opener(begin)): void {
  const openLedger = async (clock: Clock, secret: string | null): Promise<OpenedLedger> => {
    const place = await begin()
    const opened: { close(): Promise<void> }[] = []
    const another = async (): Promise<LedgerAndCrawlRequests> => {
      const store = await openStore(place.url, { ...OPTIONS, secret, now: () => clock.now, pool: 2 })
      opened.push(store)
      return store.ledger as LedgerAndCrawlRequests
    }
    const close = async (): Promise<void> => {
      for (const each of opened) await each.close()
      await place.remove()
    }
    const leasedUnits = () => Promise.reject(new Error('no part of the suite that runs here reads leases'))
    return { ledger: await another(), another, leasedUnits, close }
  }
  for (const part of [writing, states, forgetting, jobs, filings]) part({ name, open, damages: [] })
  for (const part of [accounts, tokens, downloads, usage, crawlRequests]) part({ name, runs: 1, open: openLedger })
}

function acceptsExpansions(name: string, make: () => Promise<Place>): void {
  const storeOf = async (t: TestContext): Promise<Place> => {
    const place = await make()
    t.after(place.remove)
    await (await openStore(place.url, OPTIONS)).close()
    return place
  }
  const open = async ({ url }: Place): Promise<void> => (await openStore(url, OPTIONS)).close()

  test(`${name}: a later migration that only adds is accepted, and there is nothing to migrate`, async (t) => {
    const place = await storeOf(t)
    await place.parts(({ note }) => note('9998-a.expand.sql'))
    await open(place)
    assert.deepEqual(await migrateStore(place.url, false), [])
  })

  test(`${name}: any other unknown migration is rejected`, async (t) => {
    const place = await storeOf(t)
    await place.parts(({ note }) => note('0000-early.expand.sql'))
    await assert.rejects(open(place), /has migration 0000-early\.expand\.sql, which this release does not know/)
    const other = await storeOf(t)
    await other.parts(({ note }) => note('9999-later.sql'))
    await assert.rejects(open(other), /has migration 9999-later\.sql, .* run a newer domaindex/)
  })

  test(`${name}: a known migration with another checksum is rejected, even if it only adds`, async (t) => {
    const place = await storeOf(t)
    await place.parts(({ run }) => run(`update migration set checksum = '' where name like '%.expand.sql'`))
    await assert.rejects(open(place), /migration \d{4}-[a-z-]+\.expand\.sql differs from this release's/)
  })

  test(`${name}: every insert of the store's own routines names its columns`, async (t) => {
    const place = await storeOf(t)
    const routines: string[] = []
    await place.parts(async (part) => void routines.push(...part.routines))
    if (name === 'SQLite') assert.ok(routines.some((sql) => /insert/i.test(sql)))
    else assert.deepEqual(routines, [], 'Citus has no triggers on distributed tables')
    assert.deepEqual(routines.flatMap(namelessIn), [])
  })
}

function namelessIn(sql: string): string[] {
  return [...sql.matchAll(NAMELESS)].map(([text]) => text)
}

test('every insert in the code names its columns', () => {
  const folder = join(import.meta.dirname, '../../../src')
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'))
  const nameless = files.flatMap((file) =>
    namelessIn(readFileSync(join(folder, file), 'utf8')).map((text) => `${file}: ${text}`),
  )
  assert.deepEqual(nameless, [])
  for (const sql of [
    'insert into a values (1)',
    'insert or ignore into "a"\n select 1',
    'insert into a default values',
    'insert into a as b values (1)',
  ])
    assert.equal(namelessIn(sql).length, 1, sql)
  assert.deepEqual(namelessIn('insert into a as b (c) values (1)'), [])
  assert.deepEqual(namelessIn('insert into a (b) values (1); insert or replace into c (d) values (1)'), [])
})

suite('SQLite, expanded', () => {
  acceptsExpansions('SQLite', sqlitePlace)
  conformsExpanded('SQLite', copiesOfSqlite())
})

suite('PostgreSQL, expanded', { skip: noPostgres }, () => {
  acceptsExpansions('PostgreSQL', postgresPlace)
  const begin = copiesOfPostgres()
  const open = openedInReusedPlaces(async () => {
    const { url, remove } = await begin()
    return { url, drop: remove }
  })
  conformsExpanded('PostgreSQL', begin, open)
})
