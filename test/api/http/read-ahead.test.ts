/** Pipelined requests: how far a connection is read ahead of its responses. */

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { type TestContext, test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { MAX_PIPELINED_REQUESTS, PARSE_CHUNK_BYTES } from '../../../src/api/http/pending-request.ts'
import { makeWorld } from '../../spec/world.ts'
import { sendRaw } from '../raw.ts'
import { createWorldApi } from '../world-api.ts'

/** What a socket reads at once, and what it has read when it is paused. */
const CHUNK = 65_536
const world = await makeWorld()
const { token } = await world.account({ plan: 'premium' })

/** An API whose lookups wait for the test, and their number. */
async function apiOf(t: TestContext) {
  const gate = Promise.withResolvers<void>()
  const seen = { asked: 0 }
  const lookup = async () => {
    seen.asked++
    await gate.promise
    return null
  }
  const api = await createWorldApi(world, {
    store: { ...world.store, facts: { ...world.store.facts, lookup } },
    monotonicMs: () => world.clock.ticks, // stands, so that no request waits too long on a busy machine
  })
  t.after(() => api.app.close())
  const address = await api.app.listen({ host: '127.0.0.1', port: 0 })
  return { ...api, address, seen, go: gate.resolve }
}

test('a connection is read about 32 requests ahead, then paused, and all of its requests are finally answered', async (t) => {
  const { address, connections: front, seen, go } = await apiOf(t)
  const first = `GET /v1.0/lookup?token=${token}&query=a.example HTTP/1.1\r\n\r\n`
  const behind = `GET /healthz HTTP/1.1\r\nPadding: ${'x'.repeat(1_000)}\r\n\r\n`
  const count = 10_000
  const { port } = new URL(address)
  const socket = connect(Number(port), '127.0.0.1')
  socket.write(first + behind.repeat(count))
  while (seen.asked === 0 || front.unparsedBytes === 0) await turn()
  for (let turns = 0; turns < 1_000; turns++) await turn()
  const most = MAX_PIPELINED_REQUESTS + Math.ceil(PARSE_CHUNK_BYTES / behind.length)
  assert.ok(
    front.pendingRequests >= MAX_PIPELINED_REQUESTS && front.pendingRequests <= most,
    `${front.pendingRequests} requests`,
  )
  assert.ok(front.unparsedBytes <= CHUNK, `${front.unparsedBytes} bytes`)
  assert.ok(socket.bytesWritten - socket.writableLength < first.length + behind.length * count, 'the client is held up')
  assert.equal(seen.asked, 1)
  go()
  let answered = 0
  let most2 = 0
  for await (const piece of socket.setEncoding('latin1')) {
    answered += (piece as string).split('HTTP/1.1 ').length - 1
    most2 = Math.max(most2, front.pendingRequests)
    if (answered >= count) break
  }
  assert.ok(most2 <= most, `${most2} requests`)
})

test('a connection that is lost in a flood leaves nothing behind', async (t) => {
  const { address, connections: front, seen, go } = await apiOf(t)
  const socket = connect(Number(new URL(address).port), '127.0.0.1').on('error', () => {})
  socket.write(
    `GET /v1.0/lookup?token=${token}&query=a.example HTTP/1.1\r\n\r\n${'GET /healthz HTTP/1.1\r\n\r\n'.repeat(100_000)}`,
  )
  while (seen.asked === 0 || front.unparsedBytes === 0) await turn()
  socket.resetAndDestroy()
  go()
  while (front.openConnections > 0) await turn()
  assert.deepEqual([front.pendingRequests, front.unparsedBytes], [0, 0])
})

test('many connections together are hardly read ahead', async (t) => {
  const { address, connections: front, go } = await apiOf(t)
  const ask = `GET /v1.0/lookup?token=${token}&query=a.example HTTP/1.1\r\n\r\n`
  const sockets = Array.from({ length: 300 }, () =>
    connect(Number(new URL(address).port), '127.0.0.1').on('error', () => {}),
  )
  for (const socket of sockets) socket.write(ask.repeat(1_000))
  while (front.openConnections < sockets.length) await turn()
  for (let turns = 0; turns < 1_000; turns++) await turn()
  assert.ok(front.pendingRequests <= sockets.length + 64 + MAX_PIPELINED_REQUESTS, `${front.pendingRequests} requests`)
  for (const socket of sockets) socket.destroy()
  go()
  while (front.openConnections > 0) await turn()
  assert.deepEqual([front.pendingRequests, front.unparsedBytes], [0, 0])
})

/** This many connections, each of which sends a request with a body when all are open. Returns what they receive. */
async function crowdOf({ address, connections: front }: Awaited<ReturnType<typeof apiOf>>, count: number) {
  const { port } = new URL(address)
  const sockets = Array.from({ length: count }, () => connect(Number(port), '127.0.0.1').on('error', () => {}))
  while (front.openConnections < count) await turn()
  for (const socket of sockets) socket.write('POST /v1.0/lookup HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}')
  while (front.pendingRequests === 0) await turn()
  return sockets
}

test('of many waiting requests only some are parsed before their turn, and all are answered', async (t) => {
  const api = await apiOf(t)
  const sockets = await crowdOf(api, 300)
  assert.ok(api.connections.unparsedBytes > 0, 'some are not parsed yet')
  for (const socket of sockets) {
    const [piece] = await once(socket.setEncoding('latin1'), 'data')
    assert.match(piece, /^HTTP\/1.1 401 /)
  }
  while (api.connections.pendingRequests > 0) await turn()
  assert.equal(api.connections.unparsedBytes, 0)
  for (const socket of sockets) socket.destroy()
})

test('connections that are lost before their turn leave nothing behind', async (t) => {
  const api = await apiOf(t)
  for (const socket of await crowdOf(api, 300)) socket.resetAndDestroy()
  while (api.connections.openConnections > 0) await turn()
  assert.deepEqual([api.connections.pendingRequests, api.connections.unparsedBytes], [0, 0])
})

test('a request with a body is read to its end despite many floods', async (t) => {
  const { address, connections: front, go } = await apiOf(t)
  const port = Number(new URL(address).port)
  const ask = `GET /v1.0/lookup?token=${token}&query=a.example HTTP/1.1\r\n\r\n`
  const sockets = Array.from({ length: 30 }, () => connect(port, '127.0.0.1').on('error', () => {}))
  for (const socket of sockets) socket.write(ask.repeat(1_000))
  while (front.openConnections < sockets.length || front.pendingRequests < sockets.length) await turn()
  const { token: other } = await world.account({ plan: 'premium' })
  const body = JSON.stringify({ token: other, query: 'no-dot', padding: 'x'.repeat(3_000) })
  const seen = await fetch(`${address}/v1.0/lookup`, { method: 'POST', body })
  assert.equal(seen.status, 400)
  for (const socket of sockets) socket.destroy()
  go()
})

test('pipelined requests are answered in order, even if the client ends its side', async () => {
  const paths = ['/healthz', '/v1.0/nothing', '/readyz', '/v1.0/lookup', '/crawler']
  const { port } = new URL(world.address)
  const socket = connect({ port: Number(port), host: '127.0.0.1', allowHalfOpen: true })
  socket.end(paths.map((path) => `GET ${path} HTTP/1.1\r\n\r\n`).join(''))
  const received = await text(socket)
  const statuses = [...received.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => Number(status))
  assert.deepEqual(statuses, [200, 404, 200, 401, 200])
})

test('bytes that are not a request are rejected after the responses to earlier requests', async () => {
  const { address } = world
  const { head, body } = await sendRaw(address, 'GET /v1.0/lookup HTTP/1.1\r\n\r\nnonsense\r\n\r\n')
  assert.match(head, /^HTTP\/1.1 401 /)
  assert.match(body, /token_missing.*HTTP\/1.1 404 /s)
})

/** The error of node:http if the rest of a request does not arrive in time. */
const LATE = Object.assign(new Error('late'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' })
const HALF = 'POST /v1.0/lookup HTTP/1.1\r\nContent-Length: 100\r\n\r\n{"tok'

/** A client that has sent a text, everything that it receives, and the server's end of its connection. */
async function clientOf({ app, address }: Awaited<ReturnType<typeof apiOf>>, sent: string) {
  const accepted = once(app.server, 'connection') as Promise<[Socket]>
  const client = connect(Number(new URL(address).port), '127.0.0.1')
  client.write(sent)
  return { client, received: text(client), socket: (await accepted)[0] }
}

test('a request that arrives only in part is given up in time, and its connection closed', async (t) => {
  const api = await apiOf(t)
  for (const part of [HALF, HALF.replace('/v1.0/lookup', '/nowhere'), 'GET /v1.0/look']) {
    const { received, socket } = await clientOf(api, part)
    while (socket.bytesRead < part.length) await turn()
    for (let turns = 0; turns < 10; turns++) await turn()
    api.app.server.emit('clientError', LATE, socket)
    assert.equal(await received, '')
  }
  while (api.connections.openConnections > 0) await turn()
  assert.equal(api.connections.pendingRequests, 0)
})

test('complete requests before an incomplete one are answered, then the connection is closed', async (t) => {
  const api = await apiOf(t)
  const whole = `GET /v1.0/lookup?token=${token}&query=a.example HTTP/1.1\r\n\r\n`
  const { received, socket } = await clientOf(api, whole + HALF)
  while (api.connections.pendingRequests < 2) await turn()
  api.app.server.emit('clientError', LATE, socket)
  api.go()
  assert.deepEqual((await received).match(/HTTP\/1\.1 \d+/g), ['HTTP/1.1 404'])
  while (api.connections.openConnections > 0) await turn()
  assert.equal(api.connections.pendingRequests, 0)
})

test('a body that cannot be read is rejected at once', async () => {
  const chunked = 'POST /v1.0/lookup HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nnonsense\r\n'
  const { status, body } = await sendRaw(world.address, chunked)
  assert.equal(status, 404)
  assert.match(body, /"endpoint_unknown"/)
})
