/** A store of the first release with rows is upgraded to this release. */

import assert from 'node:assert/strict'
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { ingest } from '../../../src/store/ingest.ts'
import { migrateStore, openStore } from '../../../src/store/open.ts'
import type { Store } from '../../../src/store/port/store.ts'
import { openDatabase } from '../../../src/store/postgres/database/database.ts'
import { DISTRIBUTION_STEP } from '../../../src/store/postgres/database/distribution.ts'
import {
  applyPostgresMigrations as migratePostgres,
  SCHEMA_PARTS,
} from '../../../src/store/postgres/database/migrate.ts'
import { connectSqlite } from '../../../src/store/sqlite/database/connection.ts'
import { applySqliteMigrations as migrateSqlite } from '../../../src/store/sqlite/database/migrate.ts'
import { type DomainName, slotOf } from '../../../src/values/domain-name.ts'
import { documentOf, fileAll, holdOf, saying } from '../conformance/similar/filed-pages.ts'
import { noPostgres, postgresServer } from '../postgres/server.ts'

const NOW = 1_795_176_000
const ONE = 'one.example' as DomainName
const ROW = `'${ONE}', null, 3, ${NOW - 86_400}, null, 1, 2`
const COLUMNS = 'slot, name, id, version, clock, other_clocks, dns_fingerprint, web_fingerprint'

function folderOf(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'domaindex-upgrade-'))
  t.after(() => rmSync(folder, { recursive: true }))
  return folder
}

const schemaOf = (engine: string, part: string): string =>
  join(import.meta.dirname, '../../../src/store', engine, 'schema', part)

/** All migrations except the first ones. */
const laterOf = (engine: string): string[] =>
  ['facts', 'ledger'].flatMap((part) =>
    readdirSync(schemaOf(engine, part))
      .filter((file) => !file.startsWith('0001-'))
      .sort()
      .map((file) => `${part}/${file}`),
  )

/** The first migrations of an engine's `part`, in their own folder. */
function firstOf(engine: string, part: string, folder: string): URL {
  const from = schemaOf(engine, part)
  const to = join(folder, engine, part)
  mkdirSync(to, { recursive: true })
  for (const file of readdirSync(from)) if (file.startsWith('0001-')) copyFileSync(join(from, file), join(to, file))
  return pathToFileURL(`${to}/`)
}

async function listed(store: Store): Promise<string[]> {
  const walk = await store.listing.start({ signal: new AbortController().signal })
  const pages: string[] = []
  for await (const { text } of walk.names()) pages.push(Buffer.from(text).toString())
  await walk.close()
  return pages.join('').trimEnd().split('\n')
}

/** The store is rejected until it is upgraded. Afterwards all its names are due at once and count as overdue. */
async function upgrade(url: string, later: readonly string[]): Promise<void> {
  assert.ok(later.includes('facts/0002-schedule.sql') && later.includes('ledger/0002-crawl-requests.sql'))
  const open = () => openStore(url, { access: 'write', ledger: 'own', secret: null, now: () => NOW })
  await assert.rejects(open(), /of an older release: run domaindex migrate/)
  assert.deepEqual(await migrateStore(url, true), later)
  await assert.rejects(open(), /of an older release: run domaindex migrate/, 'a plan changes nothing')
  assert.deepEqual(await migrateStore(url, false), later)
  assert.deepEqual(await migrateStore(url, false), [])
  const store = await open()
  try {
    const slot = slotOf(ONE)
    const { states, count } = await store.schedule.due(slot, slot, NOW)
    assert.deepEqual(states, await store.observations.crawlStates([ONE]))
    assert.deepEqual([states[0]?.due, states[0]?.version, states[0]?.clocks[0]], [0, 3, NOW - 86_400])
    assert.deepEqual([count.names, count.due, count.overdue, count.neverProbed, count.ages[0]], [1, 1, 1, 0, 1])
    assert.equal((await store.schedule.lease('a', 1000)).length, 256)
    assert.deepEqual(await listed(store), [ONE])
    assert.equal((await store.ledger.account('ann@example.com'))?.plan, 'basic')
    await store.crawlRequests.add('followup', [ONE])
    assert.deepEqual(await store.crawlRequests.ranges('followup'), [slot >> 8])
  } finally {
    await store.close()
  }
}

type UnreadWrites = {
  removeText(store: Store, name: DomainName): Promise<unknown>
  forget(store: Store, name: DomainName): Promise<unknown>
}

/** As this release writes when a text is removed and when a name is forgotten. */
const OWN_WRITES: UnreadWrites = {
  removeText: (store, name) => ingest(store, [saying(name, 2, null)]),
  forget: (store, name) => store.observations.forget(name),
}

async function unread(url: string, { removeText, forget }: UnreadWrites): Promise<void> {
  const store = await openStore(url, { access: 'write', ledger: 'own', secret: null, now: () => NOW })
  try {
    await ingest(
      store,
      ['p1.example', 'p2.example'].map((each) => saying(each, 1, 'the same')),
    )
    const hold = await holdOf(store)
    await fileAll(store, hold)
    const document = (await documentOf(store, 'the same'))!
    await removeText(store, 'p1.example' as DomainName)
    assert.deepEqual(await store.similar.names([document], 5), [['p2.example']], 'also what the former release writes')
    await forget(store, 'p2.example' as DomainName)
    assert.deepEqual(await store.similar.names([document], 5), [[]])
    await fileAll(store, hold)
    assert.equal(await documentOf(store, 'the same'), null)
  } finally {
    await store.close()
  }
}

test('a store of the first release in SQLite is upgraded with its rows', async (t) => {
  const folder = folderOf(t)
  const path = join(folder, 'store.db')
  for (const [part, file, sql] of [
    ['facts', path, `insert into crawl_state (${COLUMNS}) values (${slotOf(ONE)}, ${ROW})`],
    [
      'ledger',
      join(folder, 'store-ledger.db'),
      `insert into account values (1, 'ann@example.com', 'user', 'basic', 5)`,
    ],
  ] as const) {
    const database = connectSqlite(file)
    database.exec('pragma journal_mode = wal')
    migrateSqlite(database, firstOf('sqlite', part, folder))
    database.exec(sql)
    database.close()
  }
  await upgrade(`sqlite:${path}`, laterOf('sqlite'))
  const database = connectSqlite(path)
  database.exec(`insert into crawl_state (${COLUMNS}) values (1, 'late.example', null, 1, 0, null, 0, 0);
    update crawl_state set id = 0 where name = '${ONE}'`)
  database.close()
  const store = await openStore(`sqlite:${path}`, { access: 'write', ledger: 'own', secret: null })
  assert.deepEqual(await listed(store), ['late.example'], 'also what the former release writes from then on')
  await store.close()
  const write = (sql: string) => async (_store: Store, name: DomainName) => {
    const former = connectSqlite(path)
    former.exec(`${sql} where name = '${name}'`)
    former.close()
  }
  await unread(`sqlite:${path}`, {
    removeText: write('update facts set text_digest = null'),
    forget: write('delete from facts'),
  })
})

test('a store of the first release in PostgreSQL is upgraded with its rows', { skip: noPostgres }, async (t) => {
  const folder = folderOf(t)
  const { url, drop } = await (await postgresServer()).schema()
  t.after(drop)
  const database = await openDatabase(url, { pool: 2, applicationName: 'test' })
  for (const [part] of SCHEMA_PARTS) await migratePostgres(database, part, firstOf('postgres', part, folder))
  await database.transactionOnce(({ script }) =>
    script(`insert into crawl_state (part, ${COLUMNS}) values (${slotOf(ONE) >> 8}, ${slotOf(ONE)}, ${ROW});
      insert into account (email, role, plan, created) values ('ann@example.com', 'user', 'basic', 5)`),
  )
  await upgrade(url, [...laterOf('postgres'), ...(database.hasCitus ? [DISTRIBUTION_STEP] : [])])
  await unread(url, OWN_WRITES)
  await database.close()
})
