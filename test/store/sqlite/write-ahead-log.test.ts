/** The write-ahead log of a store is made durable. */

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { ingest } from '../../../src/store/ingest.ts'
import { openStore } from '../../../src/store/open.ts'
import { name, seen } from '../conformance/world.ts'

const OPTIONS = { access: 'write', ledger: 'own', secret: null } as const

test('the log of a store is synced, also if its path is a symbolic link', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'domaindex-log-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const [real, link] = [join(folder, 'real.db'), join(folder, 'link.db')]
  await (await openStore(`sqlite:${real}`, OPTIONS)).close()
  symlinkSync(real, link)
  for (const path of [real, link]) {
    const store = await openStore(`sqlite:${path}`, OPTIONS)
    await store.observations.sync()
    await ingest(store, [seen('a.example', 1, null)])
    await store.observations.sync()
    assert.ok(await store.facts.lookup(name('a.example')))
    await store.close()
  }
})
