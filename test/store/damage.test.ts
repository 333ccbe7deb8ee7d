/** Damage that `check` of SQLite has to find, or to go on past: values that nothing else says, and pages that cannot be read. */

import assert from 'node:assert/strict'
import { closeSync, mkdtempSync, openSync, rmSync, statSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import { CLOCK } from '../../src/commands/clock.ts'
import { indexOnce } from '../../src/retrieval/indexer.ts'
import { ingest } from '../../src/store/ingest.ts'
import { openStore } from '../../src/store/open.ts'
import type { Fault, Store } from '../../src/store/store.ts'
import { dns, redirecting, seen, web } from './conformance/world.ts'

const NAMES = 1200

async function withStore<Result>(path: string, work: (store: Store) => Promise<Result>): Promise<Result> {
  const store = await openStore(`sqlite:${path}`, { access: 'write', ledger: 'own', secret: null })
  return work(store).finally(() => store.close())
}

const checked = (path: string): Promise<Fault[]> =>
  withStore(path, async ({ archive }) => {
    const found: Fault[] = []
    for (let place: string | null = null, turns = 0; turns === 0 || place !== null; turns++) {
      assert.ok(turns < 20_000, 'check does not end')
      const { faults, next }: Awaited<ReturnType<typeof archive.check>> = await archive.check(place)
      found.push(...faults)
      place = next
    }
    return found
  })

/** A store with rows in every table of the facts. */
async function filled(t: TestContext): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'domaindex-damage-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'store.db')
  await withStore(path, async (store) => {
    for (const round of [1, 2])
      await ingest(
        store,
        Array.from({ length: NAMES }, (_, n) =>
          seen(
            `n${n}.example`,
            round,
            dns({ A: [`192.0.2.${n % 200}`], TXT: [[`round ${round}`]], MX: [] }),
            n % 5 === 0 ? redirecting(`t${n % 7}.example`) : web({ has_website: true, text: `text ${n} of ${n % 90}` }),
          ),
        ),
      )
    const tell = { progress: () => {} }
    await indexOnce({ store, holder: 'a test', clock: CLOCK, tell }, new AbortController().signal)
  })
  return path
}

test('values that no other row says are found by their checksum', async (t) => {
  const path = await filled(t)
  assert.deepEqual(await checked(path), [])
  const database = new DatabaseSync(path)
  t.after(() => database.close())
  database.exec('drop trigger unsum')
  for (const [statement, back, table] of [
    [`update facts set ssl = 'valid' where id = 7`, `update facts set ssl = 'nocert' where id = 7`, 'visit'],
    [
      `update state set records = '[["round 7"]]' where id = 3 and type = 3`,
      `update state set records = '[["round 1"]]' where id = 3 and type = 3`,
      'state',
    ],
    [
      'update visit set dns_print = dns_print + 1 where id = 9',
      'update visit set dns_print = dns_print - 1 where id = 9',
      'visit',
    ],
    [
      'update wording set digest = digest + 1 where number = 5',
      'update wording set digest = digest - 1 where number = 5',
      'wording',
    ],
    [
      'update posting set wording = wording + 100000 where place = (select max(place) from posting)',
      'update posting set wording = wording - 100000 where place = (select max(place) from posting)',
      'posting',
    ],
    ['update frequency set last = last + 1', 'update frequency set last = last - 1', 'frequency'],
  ] as const) {
    database.exec(statement)
    const faults = await checked(path)
    assert.ok(
      faults.length > 0 && faults.every((fault) => fault.table === table),
      `${statement}: ${JSON.stringify(faults)}`,
    )
    database.exec(back)
  }
  assert.deepEqual(await checked(path), [])
})

test('a release that knows of no checksums leaves none behind', async (t) => {
  const path = await filled(t)
  const database = new DatabaseSync(path)
  database.exec(`update facts set ssl = 'valid' where id = 7`)
  assert.equal(database.prepare('select checksum from facts where id = 7').get()!.checksum, null)
  database.close()
  assert.deepEqual(await checked(path), [])
})

test('check goes on past pages that cannot be read, says where they are, and looks at all other rows', async (t) => {
  for (const table of ['facts', 'visit', 'presence', 'state', 'posting', 'listed', 'redirect', 'arrival']) {
    const path = await filled(t)
    const page = pageOf(path, table)
    if (page === null) continue
    spoil(path, page)
    const database = new DatabaseSync(path)
    if (table !== 'target') database.exec(`update target set sources = sources + 1 where target = 't0.example'`)
    database.close()
    const faults = await checked(path)
    assert.ok(
      faults.some(({ problem }) => /cannot be read/.test(problem)),
      `${table}: ${JSON.stringify(faults.slice(0, 5))}`,
    )
    assert.ok(
      faults.some((fault) => fault.table === 'target'),
      `${table}: what comes behind is looked at`,
    )
  }
})

/** A leaf in the middle of a table; null of one that has a single page. */
function pageOf(path: string, table: string): number | null {
  const database = new DatabaseSync(path)
  try {
    database.exec('pragma wal_checkpoint(truncate)')
    const pages = database
      .prepare(`select pageno from dbstat where name = ? and pagetype = 'leaf' order by path`)
      .all(table) as { pageno: number }[]
    return pages.length < 3 ? null : pages[Math.floor(pages.length / 2)]!.pageno
  } finally {
    database.close()
  }
}

function spoil(path: string, page: number): void {
  const file = openSync(path, 'r+')
  assert.ok(statSync(path).size >= 4096 * page)
  writeSync(file, Buffer.alloc(4096, 0xa5), 0, 4096, 4096 * (page - 1))
  closeSync(file)
}
