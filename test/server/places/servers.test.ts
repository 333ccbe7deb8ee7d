/** Several servers with one store: with files in S3, with a shared folder, and with folders of their own. */

import assert from 'node:assert/strict'
import { mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { observe, type Served, serverOf } from '../../api/server.ts'
import { folderOf } from '../../cli/run.ts'
import { S3_BUCKET, S3_CREDENTIALS, startS3Server } from '../../jobs/file-store/s3-server.ts'
import { noPostgres, postgresServer } from '../../store/postgres/server.ts'
import { until } from '../../until.ts'
import { serversOf } from '../two-servers.ts'

const OBSERVATION = { domain: 'a.example', observed_at: '2026-11-20T00:00:00Z' }

/** A store with one name, and a token that may download snapshots. */
async function installation(t: TestContext) {
  await postgresServer() // for the whole file
  const servers = await serversOf(t)
  await servers.withStore((store) => observe(store, OBSERVATION))
  const made = await servers.run(['account', 'create', 'me@example.com', '--plan', 'local', '--json'])
  const { token } = JSON.parse(made.stdout) as { token: string }
  const download = async ({ address }: Served) => {
    const body = JSON.stringify({ token, download: '1' })
    const response = await fetch(`${address}/v1.0/snapshot`, { method: 'POST', body })
    const bytes = Buffer.from(await response.arrayBuffer())
    return response.status === 200 ? gunzipSync(bytes).toString() : `${response.status} ${bytes}`
  }
  return { ...servers, download }
}

const readiness = async ({ address }: Served) => (await fetch(`${address}/readyz`)).status
const state = async ({ address }: Served) => (await (await fetch(`${address}/readyz`)).json()) as { status: string }
const notReady = ({ log }: Served) =>
  log().flatMap(({ msg }) => (/^not ready: /.test(String(msg)) ? [String(msg)] : []))

test('with files in S3, one server builds the snapshot, and the other one sends it', {
  skip: noPostgres,
}, async (t) => {
  const { serve, download } = await installation(t)
  const { endpoint } = await startS3Server(t)
  const s3 = { ...S3_CREDENTIALS, DOMAINDEX_FILES: `s3://${S3_BUCKET}/x`, DOMAINDEX_FILES_ENDPOINT: endpoint }
  const builder = await serve({ ...s3, DOMAINDEX_WORKERS: '1', DOMAINDEX_JOB_TIMES: '00:00' })
  const other = await serve({ ...s3, DOMAINDEX_WORKERS: '1' })
  await until(async () => (await download(other)) === 'a.example\n')
  assert.equal(await download(builder), 'a.example\n')
  assert.deepEqual([await readiness(builder), await readiness(other)], [200, 200])
})

test('a server with another folder for files says so and is not ready, and a lost folder is replaced by a command', {
  skip: noPostgres,
}, async (t) => {
  const { serve, run, download } = await installation(t)
  const { path } = folderOf(t)
  const first = { DOMAINDEX_FILES: path('first'), DOMAINDEX_WORKERS: '1' }
  const second = { DOMAINDEX_FILES: path('second'), DOMAINDEX_WORKERS: '1' }
  const one = await serve(first)
  const other = await serve({
    ...second,
    DOMAINDEX_JOB_TIMES: '00:00',
    DOMAINDEX_ZONES: path('z'),
    DOMAINDEX_INBOX: path('i'),
  })
  assert.deepEqual([await readiness(one), await readiness(other)], [200, 503])
  assert.deepEqual(await state(other), { status: 'a place for files is wrong' })
  await until(() => notReady(other).length > 0)
  assert.match(notReady(other)[0]!, /^not ready: DOMAINDEX_FILES \(\S+second\) is empty, or has no mark: mount or name/)
  await until(() => other.log().some(({ msg }) => String(msg).startsWith('no jobs run: DOMAINDEX_FILES')))
  const refused = await run(['build', 'snapshot'], second)
  assert.equal(refused.code, 1)
  assert.match(refused.stderr, /DOMAINDEX_FILES \(\S+second\) is empty, or has no mark.*run domaindex claim/)
  one.process.kill('SIGTERM')
  rmSync(path('first'), { recursive: true })
  assert.equal((await run(['claim'], { ...second, DOMAINDEX_JOB_TIMES: 'off' })).code, 0)
  await until(async () => (await readiness(other)) === 200)
  await until(async () => (await download(other)) === 'a.example\n', 'the snapshot is built')
  mkdirSync(path('first'))
  const late = await serve(first)
  assert.equal(await readiness(late), 503)
})

test('the mark of a place tells installations apart, and a folder that all servers mount is right for all', {
  skip: noPostgres,
}, async (t) => {
  const [mine, theirs] = [await installation(t), await installation(t)]
  const { path } = folderOf(t)
  const settings = { DOMAINDEX_FILES: path('files'), DOMAINDEX_WORKERS: '1' }
  const servers = [await mine.serve(settings), await mine.serve(settings), await theirs.serve(settings)]
  assert.deepEqual(await Promise.all(servers.map(readiness)), [200, 200, 503])
  await until(() => notReady(servers[2]!).length > 0)
  assert.match(
    notReady(servers[2]!)[0]!,
    /DOMAINDEX_FILES \(\S+files\) belongs to another installation \(store postgres(ql)?:\/\/[^@ ]+, first used by \S+\): mount or name/,
  )
  assert.match(readFileSync(join(path('files'), 'installation'), 'utf8'), /^[0-9a-f-]{36}\n$/)
})

test('a server that cannot reach its place in S3 says why and is not ready', async (t) => {
  const { endpoint } = await startS3Server(t)
  const { serve } = serverOf(t)
  const s3 = { ...S3_CREDENTIALS, DOMAINDEX_WORKERS: '1', DOMAINDEX_FILES_ENDPOINT: endpoint }
  const missing = await serve({ ...s3, DOMAINDEX_FILES: 's3://no-such-bucket/x' })
  assert.deepEqual(await state(missing), { status: 'a place for files is wrong' })
  await until(() => notReady(missing).length > 0)
  assert.match(
    notReady(missing)[0]!,
    /DOMAINDEX_FILES \(s3:\/\/no-such-bucket\/x\/\): the bucket does not exist: create/,
  )
  const right = await serve({ ...s3, DOMAINDEX_FILES: `s3://${S3_BUCKET}/x` })
  assert.deepEqual(await state(right), { status: 'ok' })
})
