/** Merging pending names into the sorted list while another process does the same. */

import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { ingest } from '../../src/store/ingest.ts'
import { openStore } from '../../src/store/open.ts'
import { name, seen } from './conformance/world.ts'

/** More names than the first transaction merges. */
const MANY = 1_500

/** Another process that merges all names at once. */
const MERGE = `insert or ignore into sorted_name select name from pending_name; delete from pending_removal; delete from pending_name`

test('a listing that was delayed loses no new name and lists no forgotten name', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'domaindex-arrivals-'))
  const path = join(folder, 'store.db')
  const store = await openStore(`sqlite:${path}`, { access: 'write', ledger: 'own', secret: null })
  const other = new DatabaseSync(path)
  t.after(async () => {
    other.close()
    await store.close()
    await rm(folder, { recursive: true })
  })
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
