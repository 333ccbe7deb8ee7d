/** Downloads of the client library from a real server, over connections that break. Today is 2026-11-20. */

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { test } from 'node:test'
import fc from 'fast-check'
import { type ClientOptions, DomaindexClient, type Download, type Fetch, Sha256 } from '../../client/src/client.ts'
import { noise, publish } from '../spec/files/files.ts'
import { makeWorld } from '../spec/world.ts'
import { streamOf } from './answers.ts'

const world = await makeWorld()
const FILE = '2026-11-18.txt.gz'
const SIZE = 300_000
const content = noise(SIZE)
const { sha256 } = await publish(world, FILE, content)
await publish(world, '2026-11-01-followup-7.csv.gz', noise(10, 'followup'))
await publish(world, '2026-11-17.txt.gz', new Uint8Array())
await publish(world, 'domains-2026-11-20.txt.gz', noise(20, 'names'))
await publish(world, 'domains-enriched-2026-11-20.csv.gz', noise(30, 'enriched'))
const { token } = await world.account({ periods: ['premium:2026-01-01..'], addons: ['export', 'enriched'] })

/** What happens to one body: it breaks off after some bytes with an error, it ends early, or a byte is wrong. */
type Accident = { after: number; kind: 'break' | 'end' | 'flip' }

/** A client whose downloads have these accidents, one each, and then none. `ranges`: what it requested. */
function clientWith(accidents: Accident[], options: Partial<ClientOptions> = {}) {
  const ranges: (string | null)[] = []
  const waits: number[] = []
  const accidentFetch: Fetch = async (url, init) => {
    ranges.push(new Headers(init.headers).get('range'))
    const response = await fetch(url, init)
    const accident = accidents.shift()
    if (accident === undefined || !response.ok) return response
    const { status, headers } = response
    return new Response(withAccident(Buffer.from(await response.arrayBuffer()), accident), { status, headers })
  }
  const wait = async (ms: number): Promise<void> => void waits.push(ms)
  const client = new DomaindexClient({ server: world.address, token, fetch: accidentFetch, wait, ...options })
  return { client, ranges, waits }
}

function withAccident(bytes: Buffer, { after, kind }: Accident): ReadableStream<Uint8Array> {
  const start = bytes.subarray(0, after)
  if (kind === 'break') return streamOf(start, new Error('reset'))
  if (kind === 'end') return streamOf(start)
  const wrong = Buffer.from(bytes.subarray(after, after + 1).map((byte) => byte ^ 1))
  return streamOf(start, wrong, bytes.subarray(after + 1))
}

const bytesOf = async ({ body }: Download) => Buffer.from(await new Response(body).arrayBuffer())

async function etagOf(client: DomaindexClient): Promise<string> {
  const { etag, body } = await client.downloadFile(FILE)
  await body.cancel()
  return etag
}

const hashOf = (bytes: Uint8Array) => new Sha256().update(bytes)
const broken = (after: number): Accident => ({ after, kind: 'break' })

test('a download has the name, the size, the entity tag and the digest of the file, and its bytes', async () => {
  const { client } = clientWith([])
  const download = await client.downloadDaily('2026-11-18')
  const { body, ...facts } = download
  assert.deepEqual(facts, { filename: FILE, size: SIZE, etag: `"${sha256.slice(0, 32)}"`, sha256 })
  assert.ok((await bytesOf({ ...facts, body })).equals(content))
})

test('follow-up files, snapshots of both editions, an empty file and files by name are downloads', async () => {
  const { client } = clientWith([])
  const downloads = [
    [client.downloadDaily('2026-11-01', { followup: 7 }), 10, '2026-11-01-followup-7.csv.gz'],
    [client.downloadDaily('2026-11-17'), 0, '2026-11-17.txt.gz'],
    [client.downloadSnapshot(), 20, 'domains-2026-11-20.txt.gz'],
    [client.downloadSnapshot({ enriched: true }), 30, 'domains-enriched-2026-11-20.csv.gz'],
    [client.downloadFile(FILE), SIZE, FILE],
  ] as const
  for (const [started, size, filename] of downloads) {
    const download = await started
    assert.deepEqual([(await bytesOf(download)).length, download.filename], [size, filename])
  }
})

test('an error of the server is thrown before the download begins', async () => {
  const { client } = clientWith([])
  await assert.rejects(client.downloadDaily('2026-11-16'), { name: 'DomaindexError', error: 'no_data', status: 404 })
  await assert.rejects(client.downloadDaily('2025-11-18'), { name: 'DomaindexError', error: 'before_subscription' })
  await assert.rejects(client.downloadDaily('../v1.0/lookup'), TypeError)
  await assert.rejects(client.downloadFile('../v1.0/lookup'), { name: 'DomaindexError', status: 404 })
})

test('given connections that break or end early anywhere, the bytes are those of the file', async () => {
  const accident = fc.record({ after: fc.integer({ min: 1, max: 200_000 }), kind: fc.constantFrom('break', 'end') })
  await fc.assert(
    fc.asyncProperty(fc.array(accident, { maxLength: 3 }), fc.boolean(), async (accidents, isFast) => {
      const { client } = clientWith([...accidents], isFast ? { sha256: () => createHash('sha256') } : {})
      assert.ok((await bytesOf(await client.downloadFile(FILE))).equals(content))
    }),
    { numRuns: 30 },
  )
})

test('given connections that are reset in the middle, the download goes on', async (t) => {
  const port = Number(new URL(world.address).port)
  const cuts = [100_000, 50_000]
  const sockets = new Set<Socket>()
  const proxy = createServer((socket) => {
    const cut = cuts.shift() ?? Number.POSITIVE_INFINITY
    const upstream = connect(port, '127.0.0.1')
    let bytes = 0
    upstream.on('data', (chunk) => {
      socket.write(chunk)
      bytes += chunk.length
      if (bytes >= cut) for (const each of [socket, upstream]) each.resetAndDestroy()
    })
    socket.on('data', (chunk) => upstream.write(chunk))
    for (const each of [socket, upstream]) sockets.add(each.on('error', () => {}))
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    for (const socket of sockets) socket.destroy()
    proxy.close()
  })
  const server = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`
  const client = new DomaindexClient({ server, token, wait: async () => {} })
  assert.ok((await bytesOf(await client.downloadFile(FILE))).equals(content))
  assert.deepEqual(cuts, [])
})

test('after a break, only the rest is requested', async () => {
  const { client, ranges } = clientWith([broken(1_000), broken(501)])
  await bytesOf(await client.downloadFile(FILE))
  assert.deepEqual(ranges, [null, 'bytes=999-', 'bytes=1499-'])
})

test('the number of repetitions counts from the last byte that came', async () => {
  const lossy = clientWith([broken(10), broken(0), broken(2), broken(0), broken(2)], { retries: 2, random: () => 0.5 })
  assert.ok((await bytesOf(await lossy.client.downloadFile(FILE))).equals(content))
  assert.deepEqual(lossy.waits, [250, 500, 250, 500, 250])
  const dead = clientWith([broken(10), broken(0), broken(0), broken(0)], { retries: 2 })
  await assert.rejects(bytesOf(await dead.client.downloadFile(FILE)), { name: 'NetworkError' })
})

test('given the beginning of a file from an earlier download, the rest follows', async () => {
  const { client } = clientWith([])
  const etag = await etagOf(client)
  for (const from of [0, 1, 4_321, SIZE - 1, SIZE]) {
    const resume = { from, etag, hash: hashOf(content.subarray(0, from)) }
    assert.ok((await bytesOf(await client.downloadFile(FILE, { resume }))).equals(content.subarray(from)), String(from))
  }
})

test('given a beginning that is wrong or too long, the download fails', async () => {
  const { client } = clientWith([])
  const etag = await etagOf(client)
  const wrong = await client.downloadFile(FILE, { resume: { from: 5, etag, hash: hashOf(noise(5, 'other')) } })
  await assert.rejects(bytesOf(wrong), { name: 'DownloadError', reason: 'digest_mismatch' })
  const tooLong = { from: SIZE + 2, etag, hash: new Sha256() }
  await assert.rejects(client.downloadFile(FILE, { resume: tooLong }), { reason: 'digest_mismatch' })
})

test('given a wrong byte, the stream fails at its end', async () => {
  for (const after of [0, 1_234, SIZE - 1]) {
    const { client, ranges } = clientWith([{ after, kind: 'flip' }])
    await assert.rejects(bytesOf(await client.downloadFile(FILE)), { reason: 'digest_mismatch' })
    assert.equal(ranges.length, 1)
  }
})

test('given a file that changes during the download or before it resumes, the download fails', async () => {
  const name = '2026-11-15.txt.gz'
  await publish(world, name, noise(1_000, 'first'))
  const { client } = clientWith([broken(500)])
  const download = await client.downloadFile(name)
  await publish(world, name, noise(1_000, 'second'))
  const changed = { name: 'DownloadError', reason: 'file_changed', message: /2026-11-15.txt.gz has changed/ }
  await assert.rejects(bytesOf(download), changed)
  const resume = { from: 500, etag: download.etag, hash: hashOf(noise(1_000, 'first').subarray(0, 500)) }
  await assert.rejects(client.downloadFile(name, { resume }), changed)
})

test('given an abort, the stream fails with its reason, and nothing is requested again', async () => {
  const { client, ranges } = clientWith([])
  const controller = new AbortController()
  const { body } = await client.downloadFile(FILE, { signal: controller.signal })
  const reader = body.getReader()
  assert.equal((await reader.read()).done, false)
  const reason = new Error('enough')
  controller.abort(reason)
  await assert.rejects(
    (async () => {
      while (!(await reader.read()).done);
    })(),
    reason,
  )
  assert.equal(ranges.length, 1)
})

test('a download that is cancelled, before or after its first byte, closes its connection', async () => {
  for (const reads of [0, 1]) {
    let isCancelled = false
    const endless = new ReadableStream({
      pull: (controller) => controller.enqueue(new Uint8Array(10)),
      cancel: () => {
        isCancelled = true
      },
    })
    const head = { ETag: '"a"', 'Repr-Digest': `sha-256=:${Buffer.alloc(32).toString('base64')}:` }
    const { client } = clientWith([], { fetch: async () => new Response(endless, { headers: head }) })
    const { body, size } = await client.downloadFile(FILE)
    assert.equal(size, null)
    const reader = body.getReader()
    for (let read = 0; read < reads; read++) await reader.read()
    await reader.cancel()
    assert.ok(isCancelled, String(reads))
  }
})

test('given a response without digest, or more bytes than it names, the download fails', async () => {
  const without = clientWith([], { fetch: async () => new Response('page', { headers: { ETag: '"a"' } }) })
  await assert.rejects(without.client.downloadFile(FILE), { name: 'InvalidResponseError', message: /no Repr-Digest/ })
  const head = { ETag: '"a"', 'Repr-Digest': `sha-256=:${Buffer.alloc(32).toString('base64')}:`, 'Content-Length': '3' }
  const more = clientWith([], { fetch: async () => new Response(streamOf(Buffer.from('four')), { headers: head }) })
  await assert.rejects(bytesOf(await more.client.downloadFile(FILE)), { reason: 'digest_mismatch' })
})
