/** `check` compares the schema of both engines with that of this release, and checks the ledger. */

import assert from 'node:assert/strict'
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { suite, type TestContext, test } from 'node:test'
import pg from 'pg'
import { ingest } from '../../../src/store/ingest.ts'
import { openStore } from '../../../src/store/open.ts'
import type { Store } from '../../../src/store/port/store.ts'
import { SCHEMA_PARTS, sqlStatements } from '../../../src/store/postgres/database/migrate.ts'
import { LIST_SCHEMA_OBJECTS, objectsCreatedBy } from '../../../src/store/postgres/maintenance/check/schema.ts'
import { readMigrations } from '../../../src/store/shared/migrations.ts'
import { TESTER } from '../../tester.ts'
import { checkAll } from '../check-all.ts'
import { dns, seen } from '../conformance/world.ts'
import { ANN, NOW, newToken, TODAY } from '../ledger/engine.ts'
import { noPostgres, postgresServer } from '../postgres/server.ts'

const OPTIONS = { access: 'write', ledger: 'own', secret: null } as const
type Part = 'facts' | 'ledger'
type Place = { url: string; ledger: string; run(part: Part, sql: string): Promise<void> }

function sqlitePlace(t: TestContext): Place {
  const folder = mkdtempSync(join(tmpdir(), 'domaindex-check-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const files = { facts: join(folder, 'store.db'), ledger: join(folder, 'store-ledger.db') }
  return {
    url: `sqlite:${files.facts}`,
    ledger: files.ledger,
    async run(part, sql) {
      const database = new DatabaseSync(files[part])
      database.exec(sql)
      database.close()
    },
  }
}

async function postgresPlace(t: TestContext): Promise<Place> {
  const { url, drop } = await (await postgresServer()).tables()
  t.after(drop)
  return {
    url,
    ledger: '',
    async run(_part, sql) {
      const client = new pg.Client({ connectionString: url })
      await client.connect()
      for (const statement of sqlStatements(sql)) await client.query(statement)
      await client.end()
    },
  }
}

/** Writes a name and an account with all its data. The store is then correct. */
async function fill({ url }: Place): Promise<void> {
  const store = await openStore(url, { ...OPTIONS, now: () => NOW })
  await ingest(store, [seen('a.example', 1, dns({ A: ['192.0.2.1'] }))])
  const { ledger } = store
  const periods = [{ plan: 'basic', first: TODAY, last: TODAY } as const]
  const account = await ledger
    .as(TESTER)
    .createAccount({ ...ANN, periods, addons: ['export'] }, NOW, newToken('laptop', 1))
  const [token] = await ledger.tokens(account!.id)
  await ledger.recordUsage([
    { account: account!.id, token: token!.id, endpoint: 'lookup', day: TODAY, calls: 3, lastCall: NOW },
  ])
  await ledger.takeQuota({ account: account!.id, day: TODAY, limit: 25_000, requested: 64, holder: 'one' })
  await ledger.secrets(NOW)
  assert.deepEqual(await found(store), [])
  await store.close()
}

async function found(store: Store): Promise<string[]> {
  const { faults } = await checkAll(store)
  return faults.map(({ table, key, problem }) => `${table} ${key}: ${problem}`)
}

/** Returns what `check` finds after SQL ran in a part of the store. */
async function foundAfter(place: Place, part: Part, sql: string): Promise<string[]> {
  await fill(place)
  await place.run(part, sql)
  const store = await openStore(place.url, OPTIONS)
  return found(store).finally(() => store.close())
}

const AUDIT = 'ledger index audit_email: is missing'
const LEDGER_DAMAGES: readonly [sql: string, RegExp][] = [
  [`update token set hash = ${'substr(hash, 1, 31)'}`, /^token 1: has no SHA-256$/],
  [`update period set last = '2000-01-01'`, /^period 1: ends before it begins, or overlaps with another one$/],
  [`insert into period (account, first, last, plan) values (1, '2026-01-01', null, 'basic')`, /^period 1: .*overlaps/],
  ['update usage set token = 7', /^usage 1: belongs to a token that the account does not have$/],
  ["insert into budget (account, day, used) values (2, '', -1)", /^budget 2: has a negative number of spent units$/],
  ['update token_lease set units = 0', /^token_lease 1: holds no unit$/],
  ['delete from lease_holder', /^token_lease 1: belongs to an unknown process and would never end$/],
]

function finds(name: string, placeOf: (t: TestContext) => Place | Promise<Place>): void {
  for (const [sql, words] of LEDGER_DAMAGES) {
    test(`${name}: check finds the error in the ledger: ${sql}`, async (t) => {
      const faults = await foundAfter(await placeOf(t), 'ledger', sql)
      assert.equal(faults.length, 1, String(faults))
      assert.match(faults[0]!, words)
    })
  }

  test(`${name}: additions and rebuilt objects of a later release are not an error`, async (t) => {
    const place = await placeOf(t)
    await fill(place)
    const later = `insert into migration (${name === 'SQLite' ? '' : 'schema_part, '}number, name, checksum, applied_at)
      values (${name === 'SQLite' ? '' : `'facts', `}9999, '9999-a.expand.sql', '', '')`
    await place.run('facts', `alter table facts add column more text; ${later}; ${name === 'SQLite' ? UNSUM : REBUILT}`)
    const store = await openStore(place.url, OPTIONS)
    assert.deepEqual(await found(store).finally(() => store.close()), [])
  })
}

const UNSUM = `drop trigger clear_checksum; create trigger clear_checksum after update on facts begin select 1; end`
const REBUILT = 'drop index crawl_state_name; create index crawl_state_name on crawl_state (name, slot)'

suite('SQLite', () => {
  finds('SQLite', sqlitePlace)

  for (const [sql, part, faults] of [
    ['drop trigger clear_checksum', 'facts', ['schema trigger clear_checksum: is missing']],
    [UNSUM, 'facts', ['schema trigger clear_checksum: differs from the definition of this release']],
    ['drop index document_digest', 'facts', ['schema index document_digest: is missing']],
    ['drop index audit_email', 'ledger', [AUDIT]],
    [
      'delete from account',
      'ledger',
      ['period 1', 'addon 1', 'token 1', 'usage 1'].map((row) => `${row}: belongs to no account`),
    ],
  ] as const) {
    test(`check finds the loss: ${sql}`, async (t) => {
      assert.deepEqual(await foundAfter(sqlitePlace(t), part, sql), faults)
    })
  }

  test('a ledger without a column is rejected with a message', async (t) => {
    const place = sqlitePlace(t)
    await fill(place)
    await place.run('ledger', 'alter table lookup_request_count drop column requests')
    await assert.rejects(
      openStore(place.url, OPTIONS),
      /store-ledger\.db cannot be opened: its schema is damaged \(.*requests/,
    )
  })

  test('check continues after unreadable pages of the ledger', async (t) => {
    const place = sqlitePlace(t)
    await fill(place)
    const database = new DatabaseSync(place.ledger)
    database.exec('pragma wal_checkpoint(truncate)')
    const { pageno } = database.prepare(`select pageno from dbstat where name = 'usage'`).get()!
    database.close()
    const file = openSync(place.ledger, 'r+')
    writeSync(file, Buffer.alloc(4096, 0xff), 0, 4096, (Number(pageno) - 1) * 4096)
    closeSync(file)
    const store = await openStore(place.url, { ...OPTIONS, access: 'read' })
    const faults = await found(store).finally(() => store.close())
    assert.ok(faults.length > 0)
    for (const fault of faults) assert.match(fault, /^ledger file: /)
  })
})

suite('PostgreSQL', { skip: noPostgres }, () => {
  finds('PostgreSQL', postgresPlace)

  for (const [sql, faults] of [
    [
      'drop table anchor',
      [
        'schema table anchor: is missing',
        'schema column anchor.part: is missing',
        'schema index anchor_pkey: is missing',
      ],
    ],
    ['drop index crawl_state_name', ['schema index crawl_state_name: is missing']],
    ['alter table redirect drop constraint redirect_pkey', ['schema index redirect_pkey: is missing']],
    ['alter table probe_outcome drop column no_website', ['schema column probe_outcome.no_website: is missing']],
    ['drop index audit_email', ['schema index audit_email: is missing']],
  ] as const) {
    test(`check finds the loss: ${sql}`, async (t) => {
      assert.deepEqual(await foundAfter(await postgresPlace(t), 'facts', sql), faults)
    })
  }

  test('every object of the migrations is read from their SQL', async (t) => {
    const { url } = await postgresPlace(t)
    await (await openStore(url, OPTIONS)).close()
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    const { rows } = await client.query(LIST_SCHEMA_OBJECTS.text).finally(() => client.end())
    const made = objectsCreatedBy(
      SCHEMA_PARTS.flatMap(([, folder]) => readMigrations(folder).map(({ sql }) => sql)).join('\n'),
    )
    const own = /^(table|index|column) (migration|commit_marker)/
    const implied = /^sequence \w+_(id|number)_seq$/
    const there = rows.map(({ key }) => String(key)).filter((key) => !own.test(key) && !implied.test(key))
    assert.deepEqual([...made.keys()].sort(), there.sort())
  })
})

test('an object that a later migration drops is not expected', () => {
  const sql =
    'create table a (\n  b text primary key\n);\ncreate index c on a (b); -- create index d on a (b)\ndrop index c;'
  assert.deepEqual([...objectsCreatedBy(sql).keys()].sort(), ['column a.b', 'index a_pkey', 'table a'])
})
