/** The listing of a store in several shards: the lines of one shard, with few rows read that are not in a page yet. */

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { ingest } from '../../../../src/store/ingest.ts'
import { openBulkStore, openStore } from '../../../../src/store/open.ts'
import { BULK_TABLES } from '../../../../src/store/port/bulk.ts'
import type { ListingPage } from '../../../../src/store/port/listing.ts'
import { type Database, openDatabase } from '../../../../src/store/postgres/database/database.ts'
import { mergePages, postgresListing, type ShardPage } from '../../../../src/store/postgres/listing/listing.ts'
import { type DomainName, slotOf } from '../../../../src/values/domain-name.ts'
import { dns, redirecting, seen } from '../../conformance/world.ts'
import { noPostgres, postgresServer } from '../server.ts'
import { withShards } from './artificial-shards.ts'

if (!noPostgres) await postgresServer() // for the whole file

const OPTIONS = { access: 'write', ledger: 'own', secret: null, pool: 2 } as const
const CRAWL_STATE = BULK_TABLES.find(({ name }) => name === 'crawl_state')!
/** More than a page of each edition. */
const MANY = 23_000

/** A store with many names, some of which have facts. */
async function databaseOf(t: TestContext): Promise<Database> {
  const { url, drop } = await (await postgresServer()).tables()
  t.after(drop)
  const bulk = await openBulkStore(url, 'write')
  const names = Array.from({ length: MANY }, (_, n) => `n${n}.example` as DomainName)
  await bulk.write(
    CRAWL_STATE,
    names.map((each) => [slotOf(each), each, null, 1, 0, null, 0, 0, 0, 0, null]),
    'whole',
  )
  await bulk.finish({
    account: 0,
    audit: 0,
    token: 0,
    session: 0,
    operator_token: 0,
    watch: 0,
    webhook: 0,
    document: 0,
    event: 0,
  })
  await bulk.close()
  const store = await openStore(url, OPTIONS)
  await ingest(
    store,
    Array.from({ length: 100 }, (_, n) =>
      n % 2 === 0
        ? seen(`n${n}.example`, 1, dns({ MX: [{ priority: 1, mail_server: `mx${n}.example` }] }))
        : seen(`m${n}.example`, 1, dns({ A: ['192.0.2.1'] }), redirecting('b.example')),
    ),
  )
  await store.close()
  const database = await openDatabase(url, { pool: 4, applicationName: 'test' })
  t.after(() => database.close())
  return database
}

async function textOf(pages: AsyncIterable<ListingPage>, onPage: (rows: number) => void = () => {}): Promise<string> {
  let text = ''
  for await (const page of pages) {
    onPage(page.rows)
    text += Buffer.from(page.text).toString('latin1')
  }
  return text
}

test('whatever the number of shards, a listing has the same lines, and each row is read once and shortly before its page', {
  skip: noPostgres,
}, async (t) => {
  const database = await databaseOf(t)
  const begin = (database: Database) => postgresListing(database).start({ signal: new AbortController().signal })
  const one = await begin(withShards(database, 1))
  const expected = { names: await textOf(one.names()), rows: await textOf(one.rows()) }
  assert.equal(expected.names.split('\n').length, MANY + 50 + 1)
  for (const count of [3, 8]) {
    const sharded = withShards(database, count)
    const listing = await begin(sharded)
    assert.ok((await textOf(listing.names())) === expected.names)
    const before = sharded.rows()
    let [delivered, ahead] = [0, 0]
    const text = await textOf(listing.rows(), (rows) => {
      delivered += rows
      ahead = Math.max(ahead, sharded.rows() - before - delivered)
    })
    assert.ok(text === expected.rows)
    const moved = sharded.rows() - before
    assert.ok(moved <= 1.1 * delivered, `${moved} rows for ${delivered}`)
    assert.ok(ahead <= 2 * (5_000 + count), `${ahead} rows in memory`)
  }
})

async function* pagesOf(...pages: string[][]): AsyncGenerator<ShardPage> {
  for (const names of pages) yield { names, lines: names.map((name) => `${name}!`) }
}

async function merged(shards: AsyncIterable<ShardPage>[], max: number): Promise<string[][]> {
  const pages: string[][] = []
  for await (const { lines } of mergePages(shards, max)) pages.push([...lines])
  return pages
}

test('pages of shards are merged in order, in pages of the maximum length', async () => {
  assert.deepEqual(await merged([], 2), [])
  assert.deepEqual(await merged([pagesOf(), pagesOf(['a'])], 2), [['a!']])
  const shards = [pagesOf(['b', 'c'], ['f']), pagesOf(['a', 'g']), pagesOf(['d'], ['e'], ['h'])]
  assert.deepEqual(await merged(shards, 3), [
    ['a!', 'b!', 'c!'],
    ['d!', 'e!', 'f!'],
    ['g!', 'h!'],
  ])
})

test('a shard that fails ends the listing, and the others are closed', async () => {
  let closed = 0
  async function* endless(): AsyncGenerator<ShardPage> {
    try {
      for (let n = 0; ; n++) yield { names: [`a${n}`], lines: [`a${n}`] }
    } finally {
      closed++
    }
  }
  async function* failing(): AsyncGenerator<ShardPage> {
    yield { names: ['a2'], lines: ['a2'] }
    throw new Error('away')
  }
  await assert.rejects(merged([endless(), failing()], 1), /away/)
  assert.equal(closed, 1)
})
