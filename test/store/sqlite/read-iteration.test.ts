/** The read transaction of an iteration: reads of one iteration see one moment, and the next one sees a new one. */

import assert from 'node:assert/strict'
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import { setImmediate as nextIteration } from 'node:timers/promises'
import { ingest } from '../../../src/store/ingest.ts'
import { openStore } from '../../../src/store/open.ts'
import { address, dns, name, seen } from '../conformance/world.ts'

const CROWDED = address('192.0.2.1')

async function openedStores(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'domaindex-iteration-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'store.db')
  const writer = await openStore(`sqlite:${path}`, { access: 'write', ledger: 'own', secret: null })
  t.after(() => writer.close())
  const observe = (from: number, to: number) =>
    ingest(
      writer,
      Array.from({ length: to - from }, (_, index) => seen(`n${from + index}.example`, 1, dns({ A: [CROWDED] }))),
    )
  await observe(0, 2)
  const reader = await openStore(`sqlite:${path}`, { access: 'read', ledger: 'own', secret: null })
  return { reader, observe, path }
}

test('reads of one iteration see one moment, whatever is written meanwhile; the next one sees it', async (t) => {
  const { reader, path } = await openedStores(t)
  t.after(() => reader.close())
  const database = new DatabaseSync(path)
  t.after(() => database.close())
  const neighbours = async () => (await reader.facts.lookup(name('n0.example')))!.reverse_ip_count
  const rows = async () => (await reader.facts.neighbours([CROWDED], null, null, 100)).count
  await nextIteration()
  assert.equal(await neighbours(), 1)
  database.exec(`begin; update address_count set names = 5;
    insert into presence (address, name, since) select address, 'x' || name, since from presence; commit`)
  assert.deepEqual([await neighbours(), await rows()], [1, 2])
  await nextIteration()
  assert.deepEqual([await neighbours(), await rows()], [4, 4])
})

test('after its iteration, a reader does not keep the log from being emptied', async (t) => {
  const { reader, observe, path } = await openedStores(t)
  t.after(() => reader.close())
  const database = new DatabaseSync(path)
  t.after(() => database.close())
  const checkpoint = () => database.prepare('pragma wal_checkpoint(truncate)').get()!.busy
  await observe(2, 4)
  await reader.facts.lookup(name('n0.example'))
  assert.equal(checkpoint(), 1, 'the iteration has not ended')
  await nextIteration()
  assert.equal(checkpoint(), 0)
})

test('a store can be closed in the iteration of a read', async (t) => {
  const { reader } = await openedStores(t)
  await reader.facts.lookup(name('n0.example'))
  await reader.close()
  await nextIteration()
  await assert.rejects(reader.facts.lookup(name('n0.example')), /not open/)
})

test('if a read finds a damaged page, the iteration ends without an error, and the next one reads again', async (t) => {
  const { reader, path } = await openedStores(t)
  t.after(() => reader.close())
  const database = new DatabaseSync(path)
  database.exec('pragma wal_checkpoint(truncate)')
  const pages = database.prepare(`select pageno from dbstat where name = 'crawl_state'`).all()
  database.close()
  const file = openSync(path, 'r+')
  for (const { pageno } of pages) writeSync(file, Buffer.alloc(4096, 0x55), 0, 4096, (Number(pageno) - 1) * 4096)
  closeSync(file)
  for (let count = 0; count < 3; count++) {
    await assert.rejects(reader.facts.lookup(name('n0.example')))
    await nextIteration()
  }
})
