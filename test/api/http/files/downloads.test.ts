/** Many concurrent downloads: the cost of slow readers, and that they delay no other client. */

import assert from 'node:assert/strict'
import { existsSync, readdirSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { after, test } from 'node:test'
import { pino } from 'pino'
import { ApiMetrics } from '../../../../src/api/http/metrics.ts'
import type { FileName } from '../../../../src/jobs/file-store/file-store.ts'
import { dayOf } from '../../../../src/values/time.ts'
import { noise, publish } from '../../../spec/files/files.ts'
import { makeWorld } from '../../../spec/world.ts'
import { createWorldApi } from '../../world-api.ts'

const MIB = 2 ** 20
const SIZE = 48 * MIB
/** Bytes that are sent at once. */
const PIECE = 131_072

const world = await makeWorld()
const content = noise(SIZE)
const NAMES = ['2026-11-18.txt.gz', '2026-11-17.txt.gz'] as const
for (const name of NAMES) await publish(world, name, content)
const lines: { path: string; aborted?: boolean }[] = []
const metrics = new ApiMetrics()
const { app } = await createWorldApi(world, {
  log: pino({ level: 'info' }, { write: (line) => void lines.push(JSON.parse(line)) }),
  metrics,
})
await app.listen({ host: '127.0.0.1', port: 0 })
after(() => app.close())
const { port } = app.server.address() as { port: number }

const unsent = async () => Number(/^domaindex_unsent_bytes (\d+)$/m.exec(await metrics.registry.metrics())?.[1])
const holder = () => world.account({ periods: ['premium:2026-01-01..'] })
const turn = () => new Promise(setImmediate)

/** The number of open files of this process, if the system reports it. */
const openFiles = () => (existsSync('/proc/self/fd') ? readdirSync('/proc/self/fd').length : 0)

/** A client that requests a file, reads the beginning and then nothing more. */
async function slowReader(token: string, name: string = NAMES[0]): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1' })
  socket.on('error', () => {})
  socket.write(`GET /files/${name} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n\r\n`)
  const first = await new Promise<Buffer>((resolve) => socket.once('data', resolve))
  socket.pause()
  socket.unshift(first)
  return socket
}

/** This many slow readers, all of them stuck. */
async function slowReaders(count: number, token: string, name?: string): Promise<Socket[]> {
  const sockets = await Promise.all(Array.from({ length: count }, () => slowReader(token, name)))
  while ((await unsent()) < count * PIECE) await turn()
  return sockets
}

async function end(sockets: readonly Socket[]): Promise<void> {
  for (const socket of sockets) socket.destroy()
  while ((await unsent()) > 0) await turn()
}

test('64 slow readers cost at most 64 MB together, which is counted, and nothing after they disconnect', async () => {
  const { token } = await holder()
  await end(await slowReaders(1, token))
  const [files, before] = [openFiles(), process.memoryUsage()]
  const sockets = await slowReaders(64, token)
  const now = process.memoryUsage()
  assert.equal(await unsent(), 64 * PIECE)
  assert.ok(now.rss - before.rss < 64 * MIB, `${(now.rss - before.rss) / MIB} MiB`)
  assert.ok(now.arrayBuffers - before.arrayBuffers < 32 * MIB, `${(now.arrayBuffers - before.arrayBuffers) / MIB} MiB`)
  await end(sockets)
  while (openFiles() > files) await turn()
})

test('a slow reader finally gets the identical file', async () => {
  const { token } = await holder()
  const [socket] = await slowReaders(1, token)
  const pieces: Buffer[] = []
  let length = 0
  for await (const piece of socket!) {
    pieces.push(piece)
    length += piece.length
    if (length > SIZE && length - headOf(pieces) === SIZE) break
  }
  const all = Buffer.concat(pieces)
  assert.ok(all.subarray(headOf([all])).equals(content))
})

test('downloads do not count as calls in progress', async () => {
  const { token } = await holder()
  const sockets = await slowReaders(10, token)
  const how = { method: 'POST', body: JSON.stringify({ token, query: 'example.com' }) }
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => fetch(`http://127.0.0.1:${port}/v1.0/lookup`, how)),
  )
  assert.deepEqual([...new Set(answers.map(({ status }) => status))], [404])
  await end(sockets)
})

test('an account may have 64 concurrent downloads, and another one is told to retry at no cost', async () => {
  const [known, other] = [await holder(), await holder()]
  const sockets = await slowReaders(64, known.token)
  const ask = ({ token }: typeof known, method: string) =>
    fetch(`http://127.0.0.1:${port}/files/${NAMES[1]}`, { method, headers: { Authorization: `Bearer ${token}` } })
  const refused = await ask(known, 'GET')
  assert.deepEqual([refused.status, refused.headers.get('retry-after')], [500, '1'])
  assert.equal(((await refused.json()) as { error: string }).error, 'internal_error')
  assert.equal(await world.store.ledger.usedUnits(known.account.id, dayOf(world.clock.now)), 1)
  assert.equal((await ask(known, 'HEAD')).status, 200)
  const free = await ask(other, 'GET')
  assert.equal(free.status, 200)
  await free.body!.cancel()
  await end(sockets)
  const again = await ask(known, 'GET')
  assert.equal((await again.arrayBuffer()).byteLength, SIZE)
})

test('a client that reads nothing for long is disconnected', async () => {
  const { token } = await holder()
  const seen = lines.length
  const connected = new Promise<Socket>((resolve) => app.server.once('connection', resolve))
  const [socket] = await slowReaders(1, token)
  ;(await connected).setTimeout(50) // only its own timeout, and only now, because a busy machine takes longer to start a response
  while (!lines.slice(seen).some(({ aborted }) => aborted)) await turn()
  await end([socket!])
})

/** The bytes of the head of a response. */
const headOf = ([first]: readonly Buffer[]): number => first!.indexOf('\r\n\r\n') + 4

test('pipelined requests leave nothing behind when their connection is gone', async () => {
  const { token } = await holder()
  await end(await slowReaders(1, token))
  const files = openFiles()
  const socket = connect({ port, host: '127.0.0.1' })
  socket.on('error', () => {})
  const ask = `GET /files/${NAMES[0]} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n\r\n`
  socket.write(ask.repeat(3))
  await new Promise((resolve) => socket.once('data', resolve))
  socket.pause()
  while ((await unsent()) < PIECE) await turn()
  const other = await slowReader(token) // requested later, so that the others are in progress by now
  await end([socket, other])
  while (openFiles() > files) await turn()
})

test('a client that disconnects before its file is found occupies no slot', async () => {
  const { token } = await holder()
  const { open } = world.fileStore
  for (let number = 0; number < 65; number++) {
    const seen = lines.length
    const socket = connect({ port, host: '127.0.0.1' })
    const leave = async (): Promise<void> => {
      socket.destroy()
      while (lines.length === seen) await turn()
    }
    Object.assign(world.fileStore, { open: (name: FileName) => leave().then(() => open(name)) })
    socket.write(`GET /files/${NAMES[0]} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n\r\n`)
    await new Promise((resolve) => socket.once('close', resolve))
    while (lines.length === seen) await turn()
  }
  Object.assign(world.fileStore, { open })
  const socket = await slowReader(token)
  assert.match(String(socket.read()), /^HTTP\/1.1 200 /)
  await end([socket])
})

test('a connection that is lost just before a chunk is sent leaves nothing behind', async () => {
  const { token } = await holder()
  const { open } = world.fileStore
  const connected = new Promise<Socket>((resolve) => app.server.once('connection', resolve))
  let isClosed = false
  const losing = async (name: FileName) => {
    const opened = (await open(name))!
    const close = () => opened.close().finally(() => (isClosed = true))
    async function* read(start: number, end: number) {
      const served = await connected
      for await (const piece of opened.read(start, end)) {
        served.destroy()
        yield piece
      }
    }
    return { ...opened, read, close }
  }
  Object.assign(world.fileStore, { open: losing })
  const socket = connect({ port, host: '127.0.0.1' }).on('error', () => {})
  socket.write(`GET /files/${NAMES[0]} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n\r\n`)
  await new Promise((resolve) => socket.once('close', resolve))
  Object.assign(world.fileStore, { open })
  while (!isClosed || (await unsent()) > 0) await turn()
})

test('a connection of the direct path that is lost while its file is charged leaves nothing behind', async () => {
  const { token } = await holder()
  const { open } = world.fileStore
  const { ledger } = world.store
  const { payForFile } = ledger
  const connected = new Promise<Socket>((resolve) => app.server.once('connection', resolve))
  let isClosed = false
  const watched = async (name: FileName) => {
    const opened = (await open(name))!
    return { ...opened, close: () => opened.close().finally(() => (isClosed = true)) }
  }
  const losing: typeof payForFile = async (payment) => {
    const outcome = await payForFile.call(ledger, payment)
    const served = await connected
    await new Promise((resolve) => served.once('close', resolve).destroy())
    return outcome
  }
  Object.assign(world.fileStore, { open: watched })
  Object.assign(ledger, { payForFile: losing })
  const socket = connect({ port, host: '127.0.0.1' }).on('error', () => {})
  const body = JSON.stringify({ token, date: '2026-11-18' })
  const post = (text: string) =>
    socket.write(`POST /v1.0/daily HTTP/1.1\r\nHost: x\r\nContent-Length: ${text.length}\r\n\r\n${text}`)
  post('{}') // node:http parses the first query
  await new Promise((resolve) => socket.once('data', resolve))
  post(body)
  await new Promise((resolve) => socket.once('close', resolve))
  Object.assign(world.fileStore, { open })
  Object.assign(ledger, { payForFile })
  while (!isClosed || (await unsent()) > 0) await turn()
})

test('pipelined requests are all answered', async () => {
  const { token } = await holder()
  const socket = connect({ port, host: '127.0.0.1' })
  const body = JSON.stringify({ token, date: '2026-11-01' })
  const ask = `POST /v1.0/daily HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n\r\n${body}`
  socket.write(ask.repeat(3))
  let text = ''
  for await (const piece of socket.setEncoding('latin1')) {
    text += piece
    if (text.split('"no_data"').length === 4) break
    assert.doesNotMatch(text, /HTTP\/1.1 [^4]/)
  }
})
