/** Damage that `check` of SQLite finds or passes: values that no other row confirms, and unreadable pages. */

import assert from 'node:assert/strict'
import {
  closeSync,
  copyFileSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import { ingest } from '../../../src/store/ingest.ts'
import { openStore } from '../../../src/store/open.ts'
import { StoreFault } from '../../../src/store/port/fault.ts'
import type { CheckFault, Store } from '../../../src/store/port/store.ts'
import { defaultLedgerPath } from '../../../src/store/sqlite/locations.ts'
import { checkAll } from '../check-all.ts'
import { dns, redirecting, seen } from '../conformance/world.ts'
import { fillEveryTable } from '../every-table.ts'

async function withStore<Result>(path: string, work: (store: Store) => Promise<Result>): Promise<Result> {
  const store = await openStore(`sqlite:${path}`, { access: 'write', ledger: 'own', secret: null })
  return work(store).finally(() => store.close())
}

const checked = (path: string): Promise<CheckFault[]> =>
  withStore(path, async (store) => (await checkAll(store)).faults)

/** Names of a store whose tables have several pages. With few names, the small tables have only one. */
const [FEW_NAMES, MANY_NAMES] = [300, 1200]

/** A store with rows in every table of the facts. */
async function filled(t: TestContext, names = FEW_NAMES): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'domaindex-damage-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'store.db')
  await withStore(path, (store) => fillEveryTable(store, names))
  return path
}

test('checksums detect changed values', async (t) => {
  const path = await filled(t)
  assert.deepEqual(await checked(path), [])
  const database = new DatabaseSync(path)
  t.after(() => database.close())
  database.exec('drop trigger clear_checksum')
  for (const [statement, back, table] of [
    [`update facts set ssl = 'valid' where id = 7`, `update facts set ssl = 'nocert' where id = 7`, 'facts'],
    [
      `update dns_state set records = '[["round 7"]]' where id = 3 and type = 3`,
      `update dns_state set records = '[["round 1"]]' where id = 3 and type = 3`,
      'dns_state',
    ],
    [
      'update crawl_state set dns_fingerprint = dns_fingerprint + 1 where id = 9',
      'update crawl_state set dns_fingerprint = dns_fingerprint - 1 where id = 9',
      'crawl_state',
    ],
    [
      'update document set digest = digest + 1 where number = 5',
      'update document set digest = digest - 1 where number = 5',
      'document',
    ],
    [
      'update posting set document = document + 100000 where key = (select max(key) from posting)',
      'update posting set document = document - 100000 where key = (select max(key) from posting)',
      'posting',
    ],
    [
      'update document_frequency set last_term = last_term + 1',
      'update document_frequency set last_term = last_term - 1',
      'document_frequency',
    ],
    [
      'update inverse_block set checksum = checksum + 1 where run = 1',
      'update inverse_block set checksum = checksum - 1 where run = 1',
      'inverse_block',
    ],
  ] as const) {
    database.exec(statement)
    // the trigger, and the inverse index, which confirms the records of states
    const others = table === 'inverse_block' ? ['schema'] : ['schema', 'inverse_block']
    const faults = (await checked(path)).filter((fault) => !others.includes(fault.table))
    assert.ok(
      faults.length > 0 && faults.every((fault) => fault.table === table),
      `${statement}: ${JSON.stringify(faults)}`,
    )
    database.exec(back)
  }
  assert.deepEqual(
    (await checked(path)).map(({ key }) => key),
    ['trigger clear_checksum'],
  )
})

test('a release without checksums removes those of the rows that it writes', async (t) => {
  const path = await filled(t)
  const database = new DatabaseSync(path)
  database.exec(`update facts set ssl = 'valid' where id = 7`)
  assert.equal(database.prepare('select checksum from facts where id = 7').get()!.checksum, null)
  database.close()
  assert.deepEqual(await checked(path), [])
})

test('check continues after unreadable pages, reports where they are, and checks all other rows', async (t) => {
  const damaged = async (tables: readonly string[], names: number): Promise<void> => {
    const whole = await filled(t, names)
    for (const table of tables) await damage(whole, table)
  }
  await damaged(['presence', 'crawl_state', 'inverse_block'], FEW_NAMES)
  await damaged(['facts', 'dns_state', 'posting', 'pending_name'], MANY_NAMES)
})

/** Spoils a page of a copy of a store, and checks the copy. */
async function damage(whole: string, table: string): Promise<void> {
  const path = join(dirname(whole), `${table}.db`)
  copyFileSync(whole, path)
  copyFileSync(defaultLedgerPath(whole), defaultLedgerPath(path))
  spoil(path, pageOf(path, table))
  const database = new DatabaseSync(path)
  database.exec(`update redirect_count set sources = sources + 1 where target = 't0.example'`)
  database.close()
  const faults = await checked(path)
  assert.ok(
    faults.some(({ problem }) => /cannot be read/.test(problem)),
    `${table}: ${JSON.stringify(faults.slice(0, 5))}`,
  )
  assert.ok(
    faults.some((fault) => fault.table === 'redirect_count'),
    `${table}: what comes behind is looked at`,
  )
}

/** A leaf in the middle of a table. */
function pageOf(path: string, table: string): number {
  const database = new DatabaseSync(path)
  try {
    database.exec('pragma wal_checkpoint(truncate)')
    const pages = database
      .prepare(`select pageno from dbstat where name = ? and pagetype = 'leaf' order by path`)
      .all(table) as { pageno: number }[]
    assert.ok(pages.length >= 3, `${table} has ${pages.length} leaves`)
    return pages[Math.floor(pages.length / 2)]!.pageno
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

test('counters change by the rows that were really written, if rows are already present or missing', async (t) => {
  const path = await filled(t)
  const counts = (): unknown[] => {
    const database = new DatabaseSync(path)
    const rows = ['04c6336409', '04c6336408'].map(
      (hex) => database.prepare(`select names from address_count where address = unhex(?)`).get(hex)?.names ?? null,
    )
    const target = database
      .prepare(`select sources from redirect_count where target = 'elsewhere.example'`)
      .get()?.sources
    database.close()
    return [...rows, target ?? null]
  }
  const at = (n: number, address: string, to: string) =>
    seen(`x${n}.example`, 5 + n, dns({ A: [address] }), redirecting(to))
  await withStore(path, async (store) => {
    await ingest(store, [at(1, '198.51.100.9', 'elsewhere.example'), at(2, '198.51.100.9', 'elsewhere.example')])
  })
  assert.deepEqual(counts(), [2, null, 2])
  const database = new DatabaseSync(path)
  database.exec(
    `insert into presence (address, name, since) values (x'04c6336409', 'x3.example', '2026-11-20T00:00:00')`,
  )
  database.exec(`insert into redirect (target, source) values ('elsewhere.example', 'x3.example')`)
  database.exec(`delete from presence where name = 'x1.example'; delete from redirect where source = 'x1.example'`)
  database.close()
  await withStore(path, async (store) => {
    await ingest(store, [at(3, '198.51.100.9', 'elsewhere.example')])
    assert.deepEqual(counts(), [2, null, 2], 'the row that was there moves nothing')
    await ingest(store, [
      { ...at(1, '198.51.100.8', 't0.example'), observed_at: at(9, '192.0.2.1', 't.example').observed_at },
    ])
  })
  assert.deepEqual(counts(), [2, 1, 2], 'nor does the one that was missing')
})

test('a store with a damaged schema is rejected with what to do, without a stack', async (t) => {
  const path = await filled(t)
  const before = 'insert into pending_removal ('
  const bytes = readFileSync(path)
  const at = bytes.indexOf(`${before}name`, 0, 'latin1')
  assert.ok(at > 0)
  bytes.write('oame', at + before.length, 'latin1')
  writeFileSync(path, bytes)
  await assert.rejects(
    withStore(path, async () => {}),
    (error) => error instanceof StoreFault && /: its schema is damaged \(.*\): restore a backup$/.test(error.message),
  )
})

test('a range that no crawler would probe again is found', async (t) => {
  const path = await filled(t)
  const database = new DatabaseSync(path)
  database.exec('delete from slot_lease where slot_range = 234')
  database.close()
  const problem = 'is missing or damaged: names of this range are not probed'
  assert.deepEqual(await checked(path), [{ table: 'slot_lease', key: '234', problem }])
})
