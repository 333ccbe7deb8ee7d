/** Merging pending names into the sorted list while another process does the same. */

import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import { ingest } from '../../../src/store/ingest.ts'
import { openStore } from '../../../src/store/open.ts'
import { name, seen } from '../conformance/world.ts'

/** More names than the first transaction merges. */
const MANY = 1_500

/** Another process that merges all names at once. */
const MERGE = `insert or ignore into sorted_name select name from pending_name; delete from pending_removal; delete from pending_name`

/** Opens a store, and its file as another process does. */
async function openTwice(t: TestContext) {
  const folder = await mkdtemp(join(tmpdir(), 'domaindex-arrivals-'))
  const path = join(folder, 'store.db')
  const store = await openStore(`sqlite:${path}`, { access: 'write', ledger: 'own', secret: null })
  const other = new DatabaseSync(path)
  t.after(async () => {
    other.close()
    await store.close()
    await rm(folder, { recursive: true })
  })
  return { store, other }
}

test('a listing that was delayed loses no new name and lists no forgotten name', async (t) => {
  const { store, other } = await openTwice(t)
  other.exec(`with recursive n (i) as (select 1 union all select i + 1 from n where i < ${MANY})
    insert into pending_name (name) select format('n%05d.example', i) from n`)
  await ingest(store, [seen('z-forgotten.example', 1, null)])
  let steps = 0
  const held = {
    throwIfAborted() {
      if (++steps === 2)
        other.exec(`${MERGE}; update crawl_state set id = 0 where name = 'z-forgotten.example';
        insert into pending_name (name) values ('new.example')`)
    },
  } as AbortSignal
  await (await store.listing.start({ signal: held })).close()
  assert.ok(steps >= 2)
  await (await store.listing.start({ signal: new AbortController().signal })).close()
  const listed = (each: string) => other.prepare('select 1 from sorted_name where name = ?').get(each) !== undefined
  assert.deepEqual([listed('new.example'), listed(name('z-forgotten.example'))], [true, false])
  assert.equal((other.prepare('select count(*) as names from sorted_name').get() as { names: number }).names, MANY + 1)
})

test('a walk whose first names another one has merged starts again with the others, and lists none that was forgotten', async (t) => {
  const { store, other } = await openTwice(t)
  await ingest(store, [seen('a-forgotten.example', 1, null)])
  await store.observations.forget(name('a-forgotten.example'))
  other.exec(`with recursive n (i) as (select 1 union all select i + 1 from n where i < ${MANY})
    insert into pending_name (name) select format('n%05d.example', i) from n`)
  let steps = 0
  const held = {
    throwIfAborted() {
      if (++steps === 2)
        other.exec(`insert into sorted_name select name from pending_name where position between 2 and 1000;
          delete from pending_removal where position <= 1000; delete from pending_name where position <= 1000`)
    },
  } as AbortSignal
  await (await store.listing.start({ signal: held })).close()
  assert.ok(steps >= 2)
  const names = other
    .prepare('select name from sorted_name')
    .all()
    .map((row) => row.name)
  assert.deepEqual([names.length, names[0]], [MANY, 'n00001.example'])
  assert.equal(other.prepare('select 1 from pending_name').get(), undefined)
})
