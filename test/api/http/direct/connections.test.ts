/** Connections of the direct path that a client splits, hides requests in, or closes at the wrong moment. */

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { after, test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { queryText, startTwin, TOKEN, type Twin } from './twin-servers.ts'

/** At least as many bytes as node:http gets at once. */
const CHUNK_LENGTHS = [128, 1_024]

const [direct, plain] = await Promise.all([startTwin(true), startTwin(false)])
after(() => Promise.all([direct.close(), plain.close()]))

test('a query in a header of the first query is not answered, wherever the bytes are cut', async () => {
  for (const length of CHUNK_LENGTHS) {
    const first = queryText('lookup', 'POST /v1.0/redirect HTTP/1.1\r\nX-Field: '.padEnd(length, 'a'))
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
  const first = queryText('lookup').replace('Host: a', `Host: ${'a'.repeat(1_500)}`)
  await direct.run({ segments: [Buffer.from(first), Buffer.from(queryText('lookup'))], ending: 'stay' })
  assert.equal(direct.parsedByNode() - before, 1)
})

test('a client that disconnects before its query starts leaves nothing behind', async () => {
  const { api } = direct
  const client = connect((api.app.server.address() as AddressInfo).port, '127.0.0.1')
  const [server] = (await once(api.app.server, 'connection')) as [Socket]
  client.write(queryText('lookup'))
  await once(client, 'data')
  const parsed = direct.parsedByNode()
  let pending = 0
  server.on('data', () => {
    pending = api.connections.pendingRequests
    server.destroy() // the request starts in a later step of the event loop
  })
  client.on('error', () => {}).write(queryText('lookup'))
  await once(server, 'close')
  assert.deepEqual([pending, direct.parsedByNode()], [1, parsed])
  await turn()
  client.destroy()
  const { openConnections, pendingRequests } = api.connections
  assert.deepEqual({ openConnections, pendingRequests }, { openConnections: 0, pendingRequests: 0 })
})

test('a response that the kernel does not take at once is pending until the client reads it, and the next query waits', async () => {
  const { api } = direct
  const client = connect((api.app.server.address() as AddressInfo).port, '127.0.0.1')
  const [server] = (await once(api.app.server, 'connection')) as [Socket]
  client.write(queryText('lookup'))
  await once(client, 'data')
  const parsed = direct.parsedByNode()
  client.pause()
  const page = queryText('reverseip').replace('"query":"example.com"}', '"query":"192.0.2.2","limit":1000}')
  const long = page.replace(/Content-Length: \d+/, `Content-Length: ${page.split('\r\n\r\n')[1]!.length}`)
  let queries = 0
  for (; server.writableLength === 0; queries++) {
    client.write(long)
    while (server.bytesRead < client.bytesWritten || isAnswering(api, server)) await turn()
  }
  client.write(queryText('lookup'))
  for (let count = 0; count < 10; count++) await turn()
  assert.equal(api.connections.pendingRequests, 1)
  let text = ''
  client.setEncoding('latin1').on('data', (chunk) => (text += chunk))
  client.resume()
  while (text.split('HTTP/1.1 200 OK\r\n').length - 1 < queries + 1 || api.connections.pendingRequests > 0) await turn()
  assert.deepEqual([server.writableLength, direct.parsedByNode() - parsed], [0, 0])
  client.destroy()
  await once(server, 'close')
})

test('responses that are ready in one iteration of the event loop reach each its client, but not one that has disconnected', async () => {
  const { api } = direct
  const { port } = api.app.server.address() as AddressInfo
  const clients = await Promise.all(
    Array.from({ length: 40 }, async (_, index) => {
      const client = connect(port, '127.0.0.1')
      const received = { text: '' }
      client.setEncoding('latin1').on('data', (chunk) => (received.text += chunk))
      client.write(queryText('lookup')) // node:http answers the first request
      while (!received.text.endsWith('}}')) await turn()
      return { client, received, name: `n${index}.example` }
    }),
  )
  const parsed = direct.parsedByNode()
  for (let round = 0; round < 5; round++) {
    for (const { client, received, name } of clients) {
      received.text = ''
      client.write(
        queryText('lookup')
          .replace('example.com', name)
          .replace(/Content-Length: \d+/, contentLength(name)),
      )
    }
    const leaving = clients.splice(0, 4)
    while (api.connections.pendingRequests === 0) await turn()
    for (const { client } of leaving) client.destroy()
    for (const { received } of clients) while (!received.text.endsWith('}}')) await turn()
    for (const { received, name } of clients)
      assert.match(received.text, new RegExp(`^HTTP/1.1 200.*"query":"${name}"`, 's'))
  }
  assert.equal(direct.parsedByNode(), parsed)
  for (const { client } of clients) client.destroy()
  while (api.connections.openConnections > 0) await turn()
  assert.equal(api.connections.pendingRequests, 0)
})

test('more queries of one account at once than may wait for its slots are answered, because a batch releases them', async () => {
  const { api } = direct
  const { port } = api.app.server.address() as AddressInfo
  const clients = Array.from({ length: 1_100 }, () => {
    const received = { text: '' }
    const client = connect(port, '127.0.0.1')
    client.setEncoding('latin1').on('data', (chunk) => (received.text += chunk))
    return { client, received }
  })
  for (const { client, received } of clients) {
    client.write(queryText('lookup')) // node:http answers the first request
    while (!received.text.endsWith('}}')) await turn()
    received.text = ''
  }
  for (const { client } of clients) client.write(queryText('lookup'))
  for (const { received } of clients) {
    while (!received.text.endsWith('}')) await turn()
    assert.match(received.text, /^HTTP\/1.1 200/)
  }
  for (const { client } of clients) client.destroy()
  while (api.connections.openConnections > 0) await turn()
})

function contentLength(name: string): string {
  return `Content-Length: ${JSON.stringify({ token: TOKEN, query: name }).length}`
}

/** Whether the server works on a request of a connection, and does not wait for the client to read. */
function isAnswering({ connections }: Twin['api'], { writableLength }: Socket): boolean {
  return connections.pendingRequests > 0 && writableLength === 0
}
