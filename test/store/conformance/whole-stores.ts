/** Tests of whole stores: existence, migrations, copies. */

import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { compareStores, copyRows } from '../../../src/store/copy-rows.ts'
import { ingest } from '../../../src/store/ingest.ts'
import { migrateStore, openBulkStore, storeExists } from '../../../src/store/open.ts'
import { TESTER } from '../../tester.ts'
import type { Engine } from './engine.ts'
import { dns, NOW, seen, testWithStore, web } from './world.ts'

const ACCOUNT = { email: 'ann@example.com', role: 'user', plan: 'free', periods: [], addons: [] } as const

export function wholeStores(engine: Engine): void {
  testWithStore(engine, 'a store that was opened exists and needs no migration', async (_store, { url }) => {
    assert.equal(await storeExists(url), true)
    assert.deepEqual(await migrateStore(url, true), [])
    assert.deepEqual(await migrateStore(url, false), [])
  })

  testWithStore(engine, 'a copy of a store in another engine has equal rows', async (store, { url }) => {
    await ingest(store, [
      seen('a.example', 1, dns({ A: ['192.0.2.1'] }), web({ has_website: true, text: 'Some text.' })),
      seen('b.example', 2, dns({ A: ['192.0.2.1'], MX: [] })),
    ])
    await store.ledger.as(TESTER).createAccount(ACCOUNT, NOW)
    const folder = await mkdtemp(join(tmpdir(), 'domaindex-copied-'))
    const source = await openBulkStore(url, 'read')
    const target = await openBulkStore(`sqlite:${join(folder, 'store.db')}`, 'write')
    try {
      const { signal } = new AbortController()
      assert.equal(await copyRows(source, target, signal, () => {}), true)
      const tables = (await compareStores(source, target, signal, () => {}))!
      assert.deepEqual(
        tables.filter(({ differs }) => differs),
        [],
      )
      for (const filled of ['facts', 'presence', 'account'])
        assert.ok(tables.find(({ table }) => table === filled)!.rows > 0, filled)
    } finally {
      await source.close()
      await target.close()
      await rm(folder, { recursive: true })
    }
  })
}
