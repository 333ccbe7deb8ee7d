/** Tests `domaindex serve` with the folder of finished files. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseFileName } from '../../src/jobs/file-store/file-store.ts'
import { openFolderFileStore } from '../../src/jobs/file-store/folder.ts'
import { dayOf } from '../../src/values/time.ts'
import { makeAccount, serverOf } from '../api/server.ts'
import { bytes, description, pieces, sha256 } from '../jobs/file-store/conformance.ts'
import { TESTER } from '../tester.ts'

test('several processes serve the files of DOMAINDEX_FILES, also later ones, for one call each', async (t) => {
  const { serve, withStore, path } = serverOf(t)
  const { token, account } = await withStore(async (store) => {
    const made = await makeAccount(store, 'premium')
    await store.ledger.as(TESTER).setAddon(made.account.id, 'export', true)
    return made
  })
  const server = await serve({ DOMAINDEX_FILES: path('files'), DOMAINDEX_WORKERS: '2' })
  const { name } = parseFileName('domains-2026-11-20.txt.gz')!
  const ask = (range?: string) => {
    const headers = { Authorization: `Bearer ${token}`, Connection: 'close', ...(range && { Range: range }) }
    return fetch(`${server.address}/files/${name}`, { headers })
  }
  assert.equal((await ask()).status, 404)
  const content = Buffer.from(bytes(1_000_000))
  await openFolderFileStore(path('files')).publish(name, pieces(content), () => description())
  const parts = await Promise.all(
    Array.from({ length: 20 }, async (_, part) => {
      const response = await ask(`bytes=${part * 50_000}-${part * 50_000 + 49_999}`)
      assert.equal(response.status, 206)
      return Buffer.from(await response.arrayBuffer())
    }),
  )
  assert.equal(sha256(Buffer.concat(parts)), sha256(content))
  server.process.kill('SIGTERM')
  assert.equal((await server.outcome).code, 0)
  const pids = new Set(server.log().flatMap(({ path, pid }) => (path === '/files/:filename' ? [pid] : [])))
  assert.equal(pids.size, 2)
  const day = dayOf(Math.floor(Date.now() / 1000))
  const calls = await withStore(({ ledger }) => ledger.usage(account.id, day, day))
  assert.deepEqual(calls, [{ day, endpoint: 'snapshot', token: calls[0]?.token, calls: 2 }])
})
