/** Tests `domaindex serve` with finished files in a folder and in S3. */

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { parseFileName } from '../../src/jobs/file-store/file-store.ts'
import { openFileStore } from '../../src/jobs/file-store/open.ts'
import { type Day, dayOf } from '../../src/values/time.ts'
import { makeAccount, serverOf } from '../api/server.ts'
import { bytes, description, pieces, sha256 } from '../jobs/file-store/conformance.ts'
import { S3_BUCKET, S3_CREDENTIALS, startS3Server } from '../jobs/file-store/s3-server.ts'
import { TESTER } from '../tester.ts'

/** An empty place for files in S3, and the variables that name it. */
async function s3Place(t: TestContext) {
  const server = await startS3Server(t)
  const files = `s3://${S3_BUCKET}/prefix`
  const env = { ...S3_CREDENTIALS, DOMAINDEX_FILES: files, DOMAINDEX_FILES_ENDPOINT: server.endpoint }
  return {
    server,
    env,
    fileStore: await openFileStore({ files, filesEndpoint: server.endpoint, filesRegion: 'us-east-1' }),
  }
}

/** The same in a folder. */
async function folderPlace(files: string) {
  return {
    env: { DOMAINDEX_FILES: files },
    fileStore: await openFileStore({ files, filesEndpoint: null, filesRegion: '' }),
  }
}

for (const kind of ['a folder', 'S3'])
  test(`several processes serve the files in ${kind}, also later ones, for one call each`, async (t) => {
    const { serve, withStore, path } = serverOf(t)
    const { env, fileStore } = kind === 'S3' ? await s3Place(t) : await folderPlace(path('files'))
    const { token, account } = await withStore(async (store) => {
      const made = await makeAccount(store, 'premium')
      await store.ledger.as(TESTER).setAddon(made.account.id, 'export', true)
      return made
    })
    const server = await serve({ ...env, DOMAINDEX_WORKERS: '2' })
    const { name } = parseFileName('domains-2026-11-20.txt.gz')!
    const ask = (range?: string, others = {}) => {
      const headers = {
        Authorization: `Bearer ${token}`,
        Connection: 'close',
        ...(range && { Range: range }),
        ...others,
      }
      return fetch(`${server.address}/files/${name}`, { headers })
    }
    assert.equal((await ask()).status, 404)
    const content = Buffer.from(bytes(1_000_000))
    await fileStore.publish(name, pieces(content), () => description())
    const parts = await Promise.all(
      Array.from({ length: 20 }, async (_, part) => {
        const response = await ask(`bytes=${part * 50_000}-${part * 50_000 + 49_999}`)
        assert.equal(response.status, 206)
        return Buffer.from(await response.arrayBuffer())
      }),
    )
    assert.equal(sha256(Buffer.concat(parts)), sha256(content))
    const etag = (await ask()).headers.get('etag')!
    assert.equal((await ask('bytes=5-', { 'If-Range': etag })).status, 206)
    assert.equal((await ask('bytes=5-', { 'If-Range': '"other"' })).status, 200)
    assert.equal((await ask(undefined, { 'If-None-Match': etag })).status, 304)
    server.process.kill('SIGTERM')
    assert.equal((await server.outcome).code, 0)
    const pids = new Set(server.log().flatMap(({ path, pid }) => (path === '/files/:filename' ? [pid] : [])))
    assert.equal(pids.size, 2)
    const day = dayOf(Math.floor(Date.now() / 1000))
    const calls = await withStore(({ ledger }) => ledger.usage(account.id, day, day))
    assert.deepEqual(calls, [{ day, endpoint: 'snapshot', token: calls[0]?.token, calls: 2 }])
  })

test('while S3 does not respond, a download is an error that asks to retry, and other calls are answered', async (t) => {
  const { serve, withStore } = serverOf(t)
  const { server: s3, env, fileStore } = await s3Place(t)
  const { token } = await withStore(async (store) => {
    const made = await makeAccount(store, 'premium')
    const period = { plan: 'premium', first: '2026-01-01' as Day, last: null } as const
    await store.ledger.as(TESTER).addPeriod(made.account.id, period)
    return made
  })
  const { name } = parseFileName('2026-11-19.txt.gz')!
  await fileStore.publish(name, pieces(bytes(1_000)), () => description())
  const server = await serve({ ...env, DOMAINDEX_WORKERS: '1' })
  const ask = () => fetch(`${server.address}/files/${name}`, { headers: { Authorization: `Bearer ${token}` } })
  assert.equal((await (await ask()).arrayBuffer()).byteLength, 1_000)
  s3.before = async (context) => {
    context.status = 500
  }
  const failed = await ask()
  assert.deepEqual([failed.status, failed.headers.get('retry-after')], [500, '1'])
  assert.match(await failed.text(), /"internal_error".*files of this service are not available/)
  assert.equal((await fetch(`${server.address}/readyz`)).status, 200)
  s3.before = (_, next) => next()
  assert.equal((await (await ask()).arrayBuffer()).byteLength, 1_000)
  server.process.kill('SIGTERM')
  await server.outcome
  assert.ok(server.log().some(({ err }) => String(err?.message).startsWith('DOMAINDEX_FILES (s3://')))
})
