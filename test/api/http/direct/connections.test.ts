/** Connections of the direct path that a client splits, hides requests in, or closes at the wrong moment. */

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { after, test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { startTwin, TOKEN } from './twin-servers.ts'

/** At least as many bytes as node:http gets at once. */
const CHUNK_LENGTHS = [128, 1_024]

const [direct, plain] = await Promise.all([startTwin(true), startTwin(false)])
after(() => Promise.all([direct.close(), plain.close()]))

function query(endpoint: string, before = ''): string {
  const body = JSON.stringify({ token: TOKEN, query: 'example.com' })
  return `${before}POST /v1.0/${endpoint} HTTP/1.1\r\nHost: a\r\nContent-Length: ${body.length}\r\n\r\n${body}`
}

test('a query in a header of the first query is not answered, wherever the bytes are cut', async () => {
  for (const length of CHUNK_LENGTHS) {
    const first = query('lookup', 'POST /v1.0/redirect HTTP/1.1\r\nX-Field: '.padEnd(length, 'a'))
    const segments = [Buffer.from(first), Buffer.from('GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n')]
    const [actual, expected] = [
      await direct.run({ segments, ending: 'stay' }),
      await plain.run({ segments, ending: 'stay' }),
    ]
    assert.deepEqual(actual, expected)
    assert.match(actual.text, /from\.example.*"status":"ok"/s)
  }
})

test('a connection whose first query is long takes the direct path', async () => {
  const before = direct.parsedByNode()
  const first = query('lookup').replace('Host: a', `Host: ${'a'.repeat(1_500)}`)
  await direct.run({ segments: [Buffer.from(first), Buffer.from(query('lookup'))], ending: 'stay' })
  assert.equal(direct.parsedByNode() - before, 1)
})

test('a client that disconnects before its query starts leaves nothing behind', async () => {
  const { api } = direct
  const client = connect((api.app.server.address() as AddressInfo).port, '127.0.0.1')
  const [server] = (await once(api.app.server, 'connection')) as [Socket]
  client.write(query('lookup'))
  await once(client, 'data')
  const parsed = direct.parsedByNode()
  let pending = 0
  server.on('data', () => {
    pending = api.connections.pendingRequests
    server.destroy() // the request starts in a later step of the event loop
  })
  client.on('error', () => {}).write(query('lookup'))
  await once(server, 'close')
  assert.deepEqual([pending, direct.parsedByNode()], [1, parsed])
  await turn()
  client.destroy()
  const { openConnections, pendingRequests } = api.connections
  assert.deepEqual({ openConnections, pendingRequests }, { openConnections: 0, pendingRequests: 0 })
})
