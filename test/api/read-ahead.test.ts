/** Requests that are sent before the one before them is answered: how far a connection is read ahead. */

import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { type TestContext, test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { pino } from 'pino'
import { buildApi } from '../../src/api/api.ts'
import { READ_AHEAD, SLICE_BYTES } from '../../src/api/connection.ts'
import { Metrics } from '../../src/api/metrics.ts'
import { openRetrieval } from '../../src/retrieval/retrieval.ts'
import { makeWorld } from '../spec/world.ts'
import { sendRaw } from './raw.ts'

/** What a socket reads at once, and what it has read when it is paused. */
const CHUNK = 65_536
const world = await makeWorld()
const { token } = await world.account({ plan: 'premium' })

/** An API whose lookups wait until they are let go, and the number that is under way. */
async function apiOf(t: TestContext) {
  const gate = Promise.withResolvers<void>()
  const seen = { asked: 0 }
  const lookup = async () => {
    seen.asked++
    await gate.promise
    return null
  }
  const api = await buildApi({
    store: { ledger: world.store.ledger, facts: { ...world.store.facts, lookup } },
    retrieval: openRetrieval(world.store),
    shelf: world.shelf,
    settings: { cors: [], trustedProxies: [] },
    now: () => world.clock.now,
    log: pino({ level: 'silent' }),
    metrics: new Metrics(),
  })
  t.after(() => api.app.close())
  const address = await api.app.listen({ host: '127.0.0.1', port: 0 })
  return { ...api, address, seen, go: gate.resolve }
}

test('a connection is read about 32 requests ahead, then paused; all of its requests are answered in the end', async (t) => {
  const { address, front, seen, go } = await apiOf(t)
  const first = `GET /v1.0/lookup?token=${token}&query=a.example HTTP/1.1\r\n\r\n`
  const behind = `GET /healthz HTTP/1.1\r\nPadding: ${'x'.repeat(1_000)}\r\n\r\n`
  const count = 10_000
  const { port } = new URL(address)
  const socket = connect(Number(port), '127.0.0.1')
  socket.write(first + behind.repeat(count))
  while (seen.asked === 0 || front.heldBytes === 0) await turn()
  for (let turns = 0; turns < 1_000; turns++) await turn()
  const most = READ_AHEAD + Math.ceil(SLICE_BYTES / behind.length)
  assert.ok(front.waiting >= READ_AHEAD && front.waiting <= most, `${front.waiting} requests`)
  assert.ok(front.heldBytes <= CHUNK, `${front.heldBytes} bytes`)
  assert.ok(socket.bytesWritten - socket.writableLength < first.length + behind.length * count, 'the client is held up')
  assert.equal(seen.asked, 1)
  go()
  let answered = 0
  let most2 = 0
  for await (const piece of socket.setEncoding('latin1')) {
    answered += (piece as string).split('HTTP/1.1 ').length - 1
    most2 = Math.max(most2, front.waiting)
    if (answered >= count) break
  }
  assert.ok(most2 <= most, `${most2} requests`)
})

test('what is left of a connection that is lost in a flood is nothing', async (t) => {
  const { address, front, seen, go } = await apiOf(t)
  const socket = connect(Number(new URL(address).port), '127.0.0.1').on('error', () => {})
  socket.write(
    `GET /v1.0/lookup?token=${token}&query=a.example HTTP/1.1\r\n\r\n${'GET /healthz HTTP/1.1\r\n\r\n'.repeat(100_000)}`,
  )
  while (seen.asked === 0 || front.heldBytes === 0) await turn()
  socket.resetAndDestroy()
  go()
  while (front.open > 0) await turn()
  assert.deepEqual([front.waiting, front.heldBytes], [0, 0])
})

test('many connections together are read hardly ahead', async (t) => {
  const { address, front, go } = await apiOf(t)
  const ask = `GET /v1.0/lookup?token=${token}&query=a.example HTTP/1.1\r\n\r\n`
  const sockets = Array.from({ length: 300 }, () =>
    connect(Number(new URL(address).port), '127.0.0.1').on('error', () => {}),
  )
  for (const socket of sockets) socket.write(ask.repeat(1_000))
  while (front.open < sockets.length) await turn()
  for (let turns = 0; turns < 1_000; turns++) await turn()
  assert.ok(front.waiting <= sockets.length + 64 + READ_AHEAD, `${front.waiting} requests`)
  for (const socket of sockets) socket.destroy()
  go()
  while (front.open > 0) await turn()
  assert.deepEqual([front.waiting, front.heldBytes], [0, 0])
})

test('beside a crowd of floods a request with a body is read to its end', async (t) => {
  const { address, front, go } = await apiOf(t)
  const port = Number(new URL(address).port)
  const ask = `GET /v1.0/lookup?token=${token}&query=a.example HTTP/1.1\r\n\r\n`
  const sockets = Array.from({ length: 30 }, () => connect(port, '127.0.0.1').on('error', () => {}))
  for (const socket of sockets) socket.write(ask.repeat(1_000))
  while (front.open < sockets.length || front.waiting < sockets.length) await turn()
  const { token: other } = await world.account({ plan: 'premium' })
  const body = JSON.stringify({ token: other, query: 'no-dot', padding: 'x'.repeat(3_000) })
  const seen = await fetch(`${address}/v1.0/lookup`, { method: 'POST', body })
  assert.equal(seen.status, 400)
  for (const socket of sockets) socket.destroy()
  go()
})

test('requests that were sent ahead are answered in their order, also by a client that ends its side', async () => {
  const paths = ['/healthz', '/v1.0/nothing', '/readyz', '/v1.0/lookup', '/crawler']
  const { port } = new URL(world.address)
  const socket = connect({ port: Number(port), host: '127.0.0.1', allowHalfOpen: true })
  socket.end(paths.map((path) => `GET ${path} HTTP/1.1\r\n\r\n`).join(''))
  let text = ''
  for await (const piece of socket.setEncoding('latin1')) text += piece
  const statuses = [...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => Number(status))
  assert.deepEqual(statuses, [200, 404, 200, 401, 200])
})

test('bytes that are no request are refused after the answers to the requests before them', async () => {
  const { address } = world
  const { head, body } = await sendRaw(address, 'GET /v1.0/lookup HTTP/1.1\r\n\r\nnonsense\r\n\r\n')
  assert.match(head, /^HTTP\/1.1 401 /)
  assert.match(body, /token_missing.*HTTP\/1.1 404 /s)
})
