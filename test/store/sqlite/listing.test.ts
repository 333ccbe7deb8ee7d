/** The listing on SQLite: a page ends its search of the index where its range ends, and threads list what one thread lists. */

import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { availableParallelism, tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { ingest } from '../../../src/store/ingest.ts'
import { openStore } from '../../../src/store/open.ts'
import type { ListingOptions, ListingPage } from '../../../src/store/port/listing.ts'
import { type ListingLimits, sqliteListing } from '../../../src/store/sqlite/listing/listing.ts'
import { READ_ROWS_PAGE } from '../../../src/store/sqlite/listing/row-part.ts'
import { dns, NOW, seen } from '../conformance/world.ts'

const TABLES = `create table sorted_name (name text primary key) without rowid;
  create table sorted_line (name text primary key, fields text) without rowid;
  insert into sorted_name values ('a.example'), ('b.example'), ('c.example')`

test('a page of rows searches the names between two bounds, and the last range has no upper bound', (t) => {
  const database = new DatabaseSync(':memory:')
  t.after(() => database.close())
  database.exec(TABLES)
  const plan = database.prepare(`explain query plan ${READ_ROWS_PAGE}`).all('', null)
  assert.match(
    plan.map(({ detail }) => detail).join('\n'),
    /SEARCH sorted_name USING PRIMARY KEY \(name>\? AND name<\?\)/,
  )
  const read = database.prepare(READ_ROWS_PAGE)
  const namesOf = (after: string, end: string | null): string[] => {
    const { text } = read.get(after, end) as { text: Uint8Array }
    return Array.from(
      Buffer.from(text)
        .toString()
        .matchAll(/^[^,\n]+/gm),
      ([name]) => name,
    )
  }
  assert.deepEqual(namesOf('', 'c.example'), ['a.example', 'b.example'])
  assert.deepEqual(namesOf('a.example', null), ['b.example', 'c.example'])
})

const NAMES = 400
/** Threads for any store, and many ranges. */
const IN_THREADS: ListingLimits = { minFactsForThreads: 1, minNamesPerRange: 7 }

/** A store of names with and without facts, and its path. */
async function filledStore(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'domaindex-listing-'))
  t.after(() => rm(folder, { recursive: true }))
  const path = join(folder, 'store.db')
  const store = await openStore(`sqlite:${path}`, { access: 'write', ledger: 'own', secret: null })
  const observations = Array.from({ length: NAMES }, (_, at) => {
    const mail = at % 3 === 0 ? { MX: [{ priority: 10, mail_server: `mx${at}.example` }] } : {}
    return seen(
      `n${(at * 7919) % NAMES}.example`,
      1,
      at % 5 === 0 ? null : dns({ A: [`192.0.2.${at % 250}`], ...mail }),
    )
  })
  await ingest(store, observations)
  await store.close()
  return path
}

function listingOf(path: string, limits: ListingLimits | undefined, options: Partial<ListingOptions> = {}) {
  return sqliteListing(path, () => NOW, limits).start({ signal: new AbortController().signal, ...options })
}

async function textOf(pages: AsyncIterable<ListingPage>): Promise<string> {
  let text = ''
  for await (const page of pages) text += Buffer.from(page.text).toString('latin1')
  return text
}

const temporaryFiles = (path: string): string[] => readdirSync(dirname(path)).filter((file) => /temporary/.test(file))

test('threads list the rows that one thread lists, by ranges, and once more', async (t) => {
  const path = await filledStore(t)
  const alone = await listingOf(path, undefined)
  const expected = await textOf(alone.rows())
  await alone.close()
  assert.equal(expected.split('\n').length - 1, NAMES)
  const done: number[] = []
  const onStage: ListingOptions['onStage'] = (stage, count, total) => {
    if (stage === 'facts') done.push(count / total)
  }
  const listing = await listingOf(path, IN_THREADS, { onStage })
  assert.equal(await textOf(listing.rows()), expected)
  assert.deepEqual([done.toSorted(), done.at(-1)], [done, 1])
  if (availableParallelism() > 1) assert.equal(temporaryFiles(path).length, 2)
  for await (const page of listing.rows()) {
    assert.ok(page.rows > 0)
    break // the threads prepare further ranges meanwhile
  }
  assert.equal(await textOf(listing.rows()), expected)
  await listing.close()
  assert.deepEqual(temporaryFiles(path), [])
})

test('aborting ends the threads, and closing leaves no file', async (t) => {
  const path = await filledStore(t)
  const stop = new AbortController()
  const reason = new Error('stopped')
  const listing = await listingOf(path, IN_THREADS, { signal: stop.signal, onStage: () => stop.abort(reason) })
  await assert.rejects(textOf(listing.rows()), reason)
  await listing.close()
  assert.deepEqual(temporaryFiles(path), [])
})

test('closing an older listing does not disturb a newer one, and files of others stay', async (t) => {
  const path = await filledStore(t)
  const others = [`${path}-temporary-copy.db`, `${path}-temporary-backup`]
  writeFileSync(others[0]!, 'of another store')
  mkdirSync(others[1]!)
  const left = [`${path}-temporary`, `${path}-temporary-0123456789ab-1`]
  for (const file of left) writeFileSync(file, 'of a killed listing')
  const older = await listingOf(path, IN_THREADS)
  const expected = await textOf(older.rows())
  assert.deepEqual(left.filter(existsSync), [])
  const newer = await listingOf(path, IN_THREADS)
  let text = ''
  for await (const page of newer.rows()) {
    if (text === '') await older.close()
    text += Buffer.from(page.text).toString('latin1')
  }
  assert.equal(text, expected)
  await newer.close()
  assert.deepEqual(temporaryFiles(path).toSorted(), others.map((file) => basename(file)).toSorted())
})

test('closing ends threads that are at work, and an error of the observer is that of the listing', async (t) => {
  const path = await filledStore(t)
  const busy = await listingOf(path, IN_THREADS)
  const rows = assert.rejects(textOf(busy.rows()), /is closed/)
  await setImmediate()
  await busy.close()
  await rows
  const onStage = (): never => {
    throw new Error('the observer')
  }
  const observed = await listingOf(path, IN_THREADS, { onStage })
  await assert.rejects(textOf(observed.rows()), /the observer/)
  await observed.close()
  assert.deepEqual(temporaryFiles(path), [])
})

test('a listing that was aborted before its rows were wanted starts no thread', async (t) => {
  const path = await filledStore(t)
  const stop = new AbortController()
  const listing = await listingOf(path, IN_THREADS, { signal: stop.signal })
  stop.abort(new Error('stopped'))
  await assert.rejects(textOf(listing.rows()), /stopped/)
  assert.deepEqual(temporaryFiles(path), [])
  await listing.close()
})

test('an error in a thread is that of the listing, with the code of SQLite', async (t) => {
  const path = await filledStore(t)
  const database = new DatabaseSync(path)
  database.exec(`update facts set states = '{' where id = (select max(id) from facts)`)
  database.close()
  for (const limits of [undefined, IN_THREADS]) {
    const listing = await listingOf(path, limits)
    await assert.rejects(textOf(listing.rows()), { message: 'malformed JSON', errcode: 1 })
    await listing.close()
    assert.deepEqual(temporaryFiles(path), [])
  }
})
