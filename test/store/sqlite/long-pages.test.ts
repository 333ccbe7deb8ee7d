/** Long pages on SQLite: the first slice is read in this thread, the rest in another one. */

import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { constants, getPriority, tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import { openStore } from '../../../src/store/open.ts'
import type { NeighbourRow } from '../../../src/store/port/store.ts'
import { openLongPages } from '../../../src/store/sqlite/facts/pages/long-pages.ts'
import { packAddress } from '../../../src/values/ip-address.ts'
import { parsePage, walkNeighbours, walkRedirects } from '../conformance/reading/paging.ts'
import { address, name } from '../conformance/world.ts'

const ADDRESSES = ['192.0.2.1', '192.0.2.2', '192.0.2.3', '2001:db8::1'].map(address)
/** The number of names on each address: whole and partial slices, and an address without names. */
const COUNTS = [1_000, 0, 2_345, 1_001]
const SINCE = '2026-11-22T10:00:00'
const TARGET = name('target.example')

/** A store with names on the addresses, and as many redirects as the third address has names. */
async function filledStore(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'domaindex-pages-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'store.db')
  await (await openStore(`sqlite:${path}`, { access: 'write', ledger: 'own', secret: null })).close()
  const database = new DatabaseSync(path)
  t.after(() => database.close())
  const addPresence = database.prepare('insert into presence (address, name, since) values (?, ?, ?)')
  const addRedirect = database.prepare('insert into redirect (target, source) values (?, ?)')
  database.exec('begin')
  ADDRESSES.forEach((each, at) => {
    for (const host of namesOf(COUNTS[at]!)) addPresence.run(packAddress(each), host, SINCE)
  })
  for (const host of namesOf(COUNTS[2]!)) addRedirect.run(TARGET, host)
  database.exec('commit')
  const store = await openStore(`sqlite:${path}`, { access: 'read', ledger: 'own', secret: null })
  t.after(() => store.close())
  return { facts: store.facts, database, path }
}

/** In the order of their bytes. */
function namesOf(count: number) {
  return Array.from({ length: count }, (_, index) => name(`n${String(index).padStart(5, '0')}.example`))
}

const ROWS: NeighbourRow[] = ADDRESSES.flatMap((ip, at) =>
  namesOf(COUNTS[at]!).map((target) => ({ target, ip, since: SINCE })),
)

test('pages of any length contain every row once, in order', async (t) => {
  const { facts } = await filledStore(t)
  for (const limit of [999, 1_000, 1_001, 1_999, 2_000, 3_345, 4_345, 4_346, 5_000]) {
    assert.deepEqual(await walkNeighbours(facts, ADDRESSES, limit), ROWS, `limit ${limit}`)
    assert.deepEqual(await walkRedirects(facts, TARGET, limit), namesOf(COUNTS[2]!), `limit ${limit}`)
  }
})

test('the thread of long pages has less priority than the one that answers', async (t) => {
  if (process.platform !== 'linux') return t.skip('only Linux gives threads priorities of their own')
  const { facts } = await filledStore(t)
  const threads = (): number[] => readdirSync('/proc/self/task').map(Number)
  const before = new Set(threads())
  await facts.neighbours(ADDRESSES, null, null, 5_000)
  const added = threads().filter((thread) => !before.has(thread))
  assert.ok(added.some((thread) => getPriority(thread) >= constants.priority.PRIORITY_BELOW_NORMAL))
})

test('the excluded name is left out of every part of a long page', async (t) => {
  const { facts } = await filledStore(t)
  for (const except of ['n00000.example', 'n00999.example', 'n01000.example', 'n02344.example'].map(name)) {
    const page = await facts.neighbours(ADDRESSES, except, null, 5_000)
    assert.equal(page.last, null)
    assert.deepEqual(
      parsePage(page).rows,
      ROWS.filter(({ target }) => target !== except),
    )
  }
})

test('pages that are read concurrently, and from any position, are those of their requests', async (t) => {
  const { facts } = await filledStore(t)
  const starts = Array.from({ length: 20 }, (_, index) => 200 * index)
  const pages = await Promise.all(
    starts.map((start) => {
      const { ip, target } = ROWS[start]!
      return facts.neighbours(ADDRESSES, null, { address: ip, name: target }, 2_500)
    }),
  )
  pages.forEach((page, at) => {
    const start = starts[at]! + 1
    assert.deepEqual(parsePage(page).rows, ROWS.slice(start, start + 2_500))
  })
})

test('the memory of a page is used again after its release, and not before', async (t) => {
  const { facts } = await filledStore(t)
  const read = () => facts.neighbours(ADDRESSES, null, null, 5_000)
  const [kept, released] = [await read(), await read()]
  const memory = released.rows.flatMap((piece) => (typeof piece === 'string' ? [] : [piece]))
  for (const piece of memory) piece.fill(0)
  released.release!()
  const next = await read()
  for (const page of [kept, next]) assert.deepEqual(parsePage(page).rows, ROWS)
  assert.ok(memory.every((piece) => piece[0] !== 0))
})

test('a failure of one long page rejects it, and the next one is read', async (t) => {
  const { path } = await filledStore(t)
  const longPages = openLongPages(path)
  const selection = { table: 'redirect', ranges: [{ key: TARGET }], after: '', except: null } as const
  await assert.rejects(longPages.read({ selection: { ...selection, ranges: [{ key: {} as never }] }, limit: 2 }))
  assert.equal((await longPages.read({ selection, limit: 2 })).count, 2)
  await longPages.close()
})

test('if the thread ends, its pages are rejected, and the next one starts another thread', async (t) => {
  const { path } = await filledStore(t)
  const selection = { table: 'redirect', ranges: [{ key: TARGET }], after: '', except: null } as const
  const missing = openLongPages(`${path}.missing`)
  await assert.rejects(missing.read({ selection, limit: 2 }), /unable to open/)
  await assert.rejects(missing.read({ selection, limit: 2 }), /unable to open/)
  await missing.close()
})

test('a store that is closed still answers the long pages that were requested', async (t) => {
  const { path } = await filledStore(t)
  const longPages = openLongPages(path)
  const selection = { table: 'redirect', ranges: [{ key: TARGET }], after: '', except: null } as const
  const pages = [1, 2].map(() => longPages.read({ selection, limit: 2_000 }))
  await longPages.close()
  for (const page of pages) assert.equal((await page).count, 2_000)
})

test('a long page that no process reads any more does not keep the log from being emptied', async (t) => {
  const { facts, database } = await filledStore(t)
  await facts.neighbours(ADDRESSES, null, null, 5_000)
  database.exec(`insert into metadata (name, value) values ('x', 'y')`)
  assert.equal(database.prepare('pragma wal_checkpoint(truncate)').get()!.busy, 0)
})
