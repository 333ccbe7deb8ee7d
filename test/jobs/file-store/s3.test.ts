/** The file store in S3, against a real server: the conformance suite, failures, and what builds leave behind. */

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { openS3FileStore } from '../../../src/jobs/file-store/s3/store.ts'
import { PART_BYTES } from '../../../src/jobs/file-store/s3/upload.ts'
import { SECONDS_PER_DAY } from '../../../src/values/time.ts'
import { bytes, contentOf, description, fileStoreConformance, NAME, nameOf, pieces, readAll } from './conformance.ts'
import { S3_BUCKET, type S3Server, startS3Server } from './s3-server.ts'

const DAY_MS = SECONDS_PER_DAY * 1_000

const optionsOf = ({ endpoint }: S3Server) => ({ bucket: S3_BUCKET, prefix: 'p/', endpoint, region: 'us-east-1' })

async function world(t: TestContext) {
  const server = await startS3Server(t)
  const options = optionsOf(server)
  const objects = (): string[] =>
    readdirSync(join(server.folder, 'p/daily'))
      .flatMap((entry) => (/^(.*)\._S3rver_object$/.exec(entry)?.[1] ?? []) as string)
      .map((entry) => entry.replace(/\.[0-9a-f]{12}/, '.RANDOM'))
      .toSorted()
  return { server, options, objects, fileStore: openS3FileStore(options) }
}

fileStoreConformance({
  name: 's3',
  async open(t) {
    const options = optionsOf(await startS3Server(t))
    return { fileStore: openS3FileStore(options), another: () => openS3FileStore(options) }
  },
})

const LARGE = Buffer.from(bytes(3 * PART_BYTES + 12_345))

test('s3: a large file is sent in parts, is visible only when whole, and any range of it can be read', async (t) => {
  const { fileStore, server } = await world(t)
  const seen: unknown[] = []
  async function* content() {
    yield LARGE.subarray(0, 2 * PART_BYTES + 5)
    seen.push(await fileStore.open(NAME), await fileStore.list('daily'))
    yield LARGE.subarray(2 * PART_BYTES + 5)
    seen.push(await fileStore.open(NAME))
  }
  await fileStore.publish(NAME, content(), () => description())
  assert.deepEqual(seen, [null, [], null])
  assert.deepEqual(server.uploads(), [])
  assert.ok((await contentOf(fileStore))!.equals(LARGE))
  const opened = (await fileStore.open(NAME))!
  const at = PART_BYTES - 3
  assert.ok((await readAll(opened, at, at + 300_000)).equals(LARGE.subarray(at, at + 300_000)))
})

test('s3: if the source or a part fails, the upload is aborted, and the former file stays', async (t) => {
  const { fileStore, server, objects } = await world(t)
  await fileStore.publish(NAME, pieces(bytes(5)), () => description())
  async function* broken() {
    yield LARGE
    throw new Error('the source broke')
  }
  await assert.rejects(
    fileStore.publish(NAME, broken(), () => description()),
    /the source broke/,
  )
  server.before = async (context, next) => {
    if (context.query.partNumber === '3') context.status = 403
    else await next()
  }
  await assert.rejects(
    fileStore.publish(NAME, pieces(LARGE), () => description()),
    /FileStoreFault: DOMAINDEX_FILES \(s3:\/\/domaindex-test\/p\/\): access denied/,
  )
  assert.deepEqual(server.uploads(), [])
  assert.deepEqual(objects(), ['2026-11-19.txt.gz.RANDOM', '2026-11-19.txt.gz.json'])
  assert.equal((await contentOf(fileStore))!.length, 5)
})

test('s3: replaced and removed data and abandoned uploads are removed after a day', async (t) => {
  const { fileStore, server, options, objects } = await world(t)
  const other = nameOf('2026-11-20.txt.gz')
  for (const length of [5, 6]) await fileStore.publish(NAME, pieces(bytes(length)), () => description())
  server.before = async (context, next) => {
    if (context.method === 'DELETE' || context.query.partNumber === '2') context.status = 403
    else await next()
  }
  await assert.rejects(fileStore.publish(NAME, pieces(LARGE), () => description()))
  server.before = (_, next) => next()
  assert.equal(server.uploads().length, 1)
  await fileStore.remove(NAME)
  const unused = ['2026-11-19.txt.gz.RANDOM', '2026-11-19.txt.gz.RANDOM.unused']
  assert.deepEqual(objects(), [...unused, ...unused].toSorted())
  const later = (ms: number) => openS3FileStore(options, () => Date.now() + ms)
  await later(DAY_MS - 60_000).publish(other, pieces(bytes(3)), () => description())
  assert.equal(server.uploads().length, 1)
  assert.equal(objects().length, 6)
  await later(DAY_MS + 60_000).publish(other, pieces(bytes(4)), () => description())
  assert.deepEqual(server.uploads(), [])
  assert.deepEqual(objects(), [
    '2026-11-20.txt.gz.RANDOM',
    '2026-11-20.txt.gz.RANDOM',
    '2026-11-20.txt.gz.RANDOM.unused',
    '2026-11-20.txt.gz.json',
  ])
  assert.equal((await contentOf(fileStore, other))!.length, 4)
})

test('s3: data of a build that was killed before its manifest is removed a day after it was first seen', async (t) => {
  const { fileStore, server, options, objects } = await world(t)
  server.before = async (context, next) => {
    if (context.path.endsWith('.json') && context.method === 'PUT') context.status = 403
    else await next()
  }
  await assert.rejects(fileStore.publish(NAME, pieces(bytes(5)), () => description()))
  server.before = (_, next) => next()
  assert.equal(await fileStore.open(NAME), null)
  const publish = (days: number) =>
    openS3FileStore(options, () => Date.now() + days * 2 * DAY_MS).publish(NAME, pieces(bytes(6)), () => description())
  await publish(0)
  assert.equal(objects().filter((key) => key.endsWith('RANDOM')).length, 2)
  await publish(1)
  assert.equal(objects().filter((key) => key.endsWith('RANDOM')).length, 2)
  assert.equal((await contentOf(fileStore))!.length, 6)
})

test('s3: listing and removal read every page of objects', async (t) => {
  const { fileStore, server, options } = await world(t)
  const start = Date.UTC(2025, 0, 1)
  const names = Array.from({ length: 13 }, (_, index) =>
    nameOf(`${new Date(start + index * DAY_MS).toISOString().slice(0, 10)}.txt.gz`),
  )
  for (const name of names) await fileStore.publish(name, pieces(bytes(3)), () => description())
  let pages = 0
  server.before = (context, next) => {
    if (context.query['list-type'] === undefined) return next()
    pages++
    context.query = { ...context.query, 'max-keys': '6' } // a server may return fewer than it was asked for
    return next()
  }
  assert.deepEqual(
    (await fileStore.list('daily')).map(({ name }) => name),
    names,
  )
  assert.equal(pages, 5)
  for (const name of names.slice(0, 8)) await fileStore.remove(name)
  const later = openS3FileStore(options, () => Date.now() + 2 * DAY_MS)
  await later.publish(NAME, pieces(bytes(3)), () => description())
  assert.equal((await later.list('daily')).length, 6)
  assert.equal(readdirSync(join(server.folder, 'p/daily')).filter((entry) => entry.endsWith('_object')).length, 12)
})

test('s3: a listing reads only the manifests that changed', async (t) => {
  const { fileStore, server, options } = await world(t)
  const other = nameOf('2026-11-20.txt.gz')
  for (const name of [NAME, other]) await fileStore.publish(name, pieces(bytes(3)), () => description())
  const reader = openS3FileStore(options)
  assert.equal((await reader.list('daily')).length, 2)
  const replaced = await fileStore.publish(other, pieces(bytes(4)), () => description())
  const read: string[] = []
  server.before = (context, next) => {
    if (context.path.endsWith('.json')) read.push(context.path)
    return next()
  }
  assert.deepEqual((await reader.list('daily'))[1], replaced)
  assert.deepEqual(read, [`/${S3_BUCKET}/p/daily/2026-11-20.txt.gz.json`])
})

test('s3: a download continues where its connection broke', async (t) => {
  const { fileStore, server } = await world(t)
  await fileStore.publish(NAME, pieces(LARGE), () => description())
  const ranges: (string | undefined)[] = []
  server.before = async (context, next) => {
    await next()
    if (context.req.headers.range === undefined) return
    ranges.push(context.req.headers.range)
    if (ranges.length > 3) return
    let sent = 0
    const { res } = context
    const write = res.write.bind(res) as (chunk: Uint8Array, ...rest: never[]) => boolean
    res.write = ((chunk: Uint8Array, ...rest: never[]) => {
      sent += chunk.length
      if (sent > 2_000_000) res.destroy()
      return write(chunk, ...rest)
    }) as typeof res.write
  }
  const opened = (await fileStore.open(NAME))!
  assert.ok((await readAll(opened, 10, LARGE.length)).equals(LARGE.subarray(10)))
  assert.equal(ranges.length, 4)
  assert.equal(ranges[0], `bytes=10-${LARGE.length - 1}`)
})

test('s3: a busy server is asked again, and one that stays busy is a fault within a bounded number of requests', async (t) => {
  const { fileStore, server } = await world(t)
  await fileStore.publish(NAME, pieces(bytes(5)), () => description())
  let requests = 0
  let failures = 2
  server.before = async (context, next) => {
    requests++
    if (failures-- <= 0) return next()
    context.status = 503
    context.type = 'application/xml'
    context.body = '<Error><Code>SlowDown</Code><Message>Reduce your request rate.</Message></Error>'
  }
  assert.equal((await fileStore.manifest(NAME))!.bytes, 5)
  assert.equal(requests, 3)
  failures = Number.POSITIVE_INFINITY
  requests = 0
  await assert.rejects(fileStore.manifest(NAME), /DOMAINDEX_FILES .* the request to S3 failed \(503 SlowDown\)/)
  assert.equal(requests, 4)
})

for (const [what, change, message] of [
  ['a missing bucket', { bucket: 'other-bucket' }, /s3:\/\/other-bucket\/p\/\): the bucket does not exist: create it/],
  ['a server that is not there', { endpoint: 'http://127.0.0.1:1' }, /the request to S3 failed \(ECONNREFUSED\)/],
] as const) {
  test(`s3: ${what} is a fault that names the place and says what is wrong`, async (t) => {
    const { options } = await world(t)
    const fileStore = openS3FileStore({ ...options, ...change })
    await assert.rejects(fileStore.list('daily'), message)
    await assert.rejects(fileStore.list('daily'), { isLasting: what === 'a missing bucket' })
    await assert.rejects(fileStore.open(NAME), message)
    await assert.rejects(
      fileStore.publish(NAME, pieces(bytes(5)), () => description()),
      message,
    )
  })
}

test('s3: a server that does not speak the protocol of S3 is a fault, and has no missing objects', async (t) => {
  const { options } = await world(t)
  const other = createServer((_, response) => response.writeHead(404).end('{"error":"endpoint_unknown"}'))
  await once(other.listen(0, '127.0.0.1'), 'listening')
  t.after(() => other.close())
  const endpoint = `http://127.0.0.1:${(other.address() as AddressInfo).port}`
  const fileStore = openS3FileStore({ ...options, endpoint })
  const fault = /the server does not answer as S3 \(404\): check DOMAINDEX_FILES_ENDPOINT$/
  await assert.rejects(fileStore.list('daily'), fault)
  await assert.rejects(fileStore.manifest(NAME), fault)
  await assert.rejects(fileStore.notes.read('installation'), fault)
})

test('s3: damaged or missing data is an error that names the object and says what to do', async (t) => {
  const { fileStore, server } = await world(t)
  await fileStore.publish(NAME, pieces(bytes(10)), () => description())
  server.before = async (context, next) => {
    if (context.method === 'HEAD') context.status = 404
    else await next()
  }
  await assert.rejects(
    fileStore.open(NAME),
    /s3:\/\/domaindex-test\/p\/daily\/2026-11-19\.txt\.gz\.json: .* is missing/,
  )
  server.before = async (context, next) => {
    await next()
    if (context.method === 'HEAD') context.set('Content-Length', '9')
  }
  await assert.rejects(fileStore.open(NAME), /has 9 bytes instead of 10\. Remove that manifest/)
})

test('s3: the client prints no warning, whatever is written', async (t) => {
  const { options } = await world(t)
  const program = `
    import { openS3FileStore } from '${new URL('../../../src/jobs/file-store/s3/store.ts', import.meta.url)}'
    const store = openS3FileStore(${JSON.stringify({ ...options, prefix: 'env=prod/' })})
    const empty = { generated: 0, rows: 0, plain_bytes: 0, plain_sha256: '', first: null, last: null, held: null }
    await store.notes.write('installation', 'a')
    for (let revision = 1; revision < 4; revision++)
      await store.publish('${NAME}', (async function* () {})(), () => empty)
    await store.remove('${NAME}')
    if ((await store.list('daily')).length > 0) process.exitCode = 1`
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program])
  let printed = ''
  child.stderr.on('data', (chunk) => (printed += chunk))
  const [code] = await once(child, 'close')
  assert.deepEqual([code, printed], [0, ''])
})
