/** Requests to logs: sizes, encodings and statuses. */

import assert from 'node:assert/strict'
import { EventEmitter, once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { type TestContext, test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { listenAsLog } from '../../../lab/certificate-log/listen.ts'
import { openLogClient } from '../../../src/fetch/ct/log/log-client.ts'
import { LogFault, LogUnavailable } from '../../../src/fetch/ct/log.ts'
import { until } from '../../until.ts'

const TEXT = Buffer.from('an entry '.repeat(1_000))
const send = (encoding: string | null, body: Buffer) => (response: ServerResponse) =>
  response.writeHead(200, encoding === null ? {} : { 'content-encoding': encoding }).end(body)

const ANSWERS: Record<string, (response: ServerResponse) => unknown> = {
  plain: send(null, TEXT),
  gzip: send('gzip', gzipSync(TEXT)),
  bomb: send('gzip', gzipSync(Buffer.alloc(2_000_000))),
  brotli: send('br', brotliCompressSync(TEXT)),
  damaged: send('gzip', gzipSync(TEXT).subarray(0, 30)),
  long: send(null, Buffer.alloc(200_000)),
  none: (response) => response.writeHead(404).end(),
  gone: (response) => response.writeHead(410).end(),
  moved: (response) => response.writeHead(301, { location: 'https://log.example/' }).end(),
  busy: (response) => response.writeHead(429, { 'retry-after': '999999' }).end(),
  dated: (response) => response.writeHead(503, { 'retry-after': 'Fri, 20 Nov 2026 12:00:00 GMT' }).end(),
  pieces: send('gzip', gzipSync(Buffer.alloc(1_000_000))),
  endless: (response) => response.writeHead(200).write('x'),
  silent: () => {},
  cut: (response) => response.writeHead(200, { 'content-length': 100 }).write('x', () => response.destroy()),
}

/**
 * Opens a client of a log with these answers, and returns a function that gets a path. `received`: emits the path of
 * each request that has arrived.
 */
async function openClient(t: TestContext) {
  const received = new EventEmitter()
  const { url: base, close } = await listenAsLog((request, response) => {
    const path = request.url!.slice(1)
    ANSWERS[path]!(response)
    received.emit(path)
  })
  const stop = new AbortController()
  const client = openLogClient('domaindex/test', stop.signal)
  t.after(async () => {
    await client.close()
    await close()
  })
  const get = (path: string): Promise<Buffer | null> => client.get(base + path, 100_000)
  return { base, client, stop, received, get }
}

test('a body is decoded within its bound, and anything else is unavailable or a fault of the log', async (t) => {
  const { base, client, stop, get } = await openClient(t)
  assert.deepEqual([await get('plain'), await get('gzip')], [TEXT, TEXT])
  assert.deepEqual([await get('none'), await get('gone')], [null, null])
  for (const path of ['bomb', 'long'])
    await assert.rejects(get(path), { name: 'LogFault', message: `${base}${path} has more than 100000 bytes` })
  await assert.rejects(
    get('brotli'),
    (error) => error instanceof LogFault && /has the encoding br, which was not requested/.test(error.message),
  )
  for (const [path, retryAfterMs] of [
    ['damaged', null],
    ['moved', null],
    ['cut', null],
    ['dated', null],
    ['busy', 3_600_000],
  ] as const)
    await assert.rejects(
      get(path),
      (error) => error instanceof LogUnavailable && error.retryAfterMs === retryAfterMs,
      path,
    )
  await assert.rejects(client.get('http://127.0.0.1:1/', 10), LogUnavailable)
  stop.abort()
  await assert.rejects(get('plain'), { name: 'AbortError' })
})

const isLate = (error: unknown): boolean => error instanceof LogUnavailable && / more than 60 s$/.test(error.message)

test('a request without an answer ends after a minute, or when the client is stopped', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { get, received, stop } = await openClient(t)
  const begin = async (): Promise<{ pending: Promise<unknown> }> => {
    const pending = get('silent')
    await once(received, 'silent')
    return { pending }
  }
  const late = await begin()
  t.mock.timers.tick(59_999)
  assert.ok(await isPending(late.pending))
  t.mock.timers.tick(1)
  await assert.rejects(late.pending, isLate)
  const stopped = await begin()
  stop.abort()
  await assert.rejects(stopped.pending, { name: 'AbortError' })
})

test('a body that does not end is given up a minute after its request, or when the client is stopped', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { base, client, stop } = await openClient(t)
  const begin = async (): Promise<AsyncGenerator<Buffer>> => {
    const pieces = await client.stream(`${base}endless`, 100)
    assert.deepEqual((await pieces!.next()).value, Buffer.from('x'))
    return pieces!
  }
  const late = (await begin()).next()
  t.mock.timers.tick(59_999)
  assert.ok(await isPending(late))
  t.mock.timers.tick(1)
  await assert.rejects(late, isLate)
  const stopped = await begin()
  stop.abort()
  await assert.rejects(stopped.next(), { name: 'AbortError' })
})

test('after the client is stopped, a stream gives no piece that it has buffered', async (t) => {
  const { base, client, stop } = await openClient(t)
  const pieces = await client.stream(`${base}pieces`, 1_000_000)
  await pieces!.next()
  stop.abort()
  await assert.rejects(pieces!.next(), { name: 'AbortError' })
})

test('the timer of a request ends with the request', async (t) => {
  const set = t.mock.method(globalThis, 'setTimeout')
  const cleared = t.mock.method(globalThis, 'clearTimeout')
  const { get } = await openClient(t)
  const paths = ['plain', 'gzip', 'none', 'busy', 'cut', 'long', 'brotli', 'bomb', 'moved']
  await Promise.allSettled(paths.map(get))
  const timers = set.mock.calls.filter((call) => call.arguments[1] === 60_000).map(({ result }) => result)
  assert.equal(timers.length, paths.length)
  const isCleared = (timer: unknown): boolean => cleared.mock.calls.some((call) => call.arguments[0] === timer)
  await until(() => timers.every(isCleared)) // a body closes after its end
})

async function isPending(promise: Promise<unknown>): Promise<boolean> {
  const ended = promise.then(
    () => false,
    () => false,
  )
  return Promise.race([ended, turn(true)])
}
