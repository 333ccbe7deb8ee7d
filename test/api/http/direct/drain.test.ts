/** Queries of the direct path on connections that were open before the server drains, alone and several at once. */

import assert from 'node:assert/strict'
import { type AddressInfo, connect } from 'node:net'
import { type TestContext, test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { queryText, startTwin, type Twin } from './twin-servers.ts'

const QUERY = queryText('lookup')
const LAST_RESPONSE = /^HTTP\/1\.1 200 OK\r\n.*\r\nConnection: close\r\n\r\n\{.*\}\}$/s

/** A client whose first request has been answered by node:http. `text`: what it received since then. */
type Client = { socket: ReturnType<typeof connect>; text: string; isEnded: boolean }

async function startWithClients(t: TestContext, count: number): Promise<{ twin: Twin; clients: Client[] }> {
  const twin = await startTwin(true)
  t.after(() => twin.close())
  const { port } = twin.api.app.server.address() as AddressInfo
  const clients: Client[] = []
  for (let at = 0; at < count; at++) {
    const client: Client = { socket: connect(port, '127.0.0.1'), text: '', isEnded: false }
    client.socket.setEncoding('latin1').on('data', (chunk) => (client.text += chunk))
    client.socket.on('end', () => (client.isEnded = true))
    client.socket.write(QUERY)
    while (!client.text.endsWith('}}')) await turn()
    assert.match(client.text, /^Connection: keep-alive\r$/m)
    client.text = ''
    clients.push(client)
  }
  while (twin.api.connections.pendingRequests > 0) await turn()
  return { twin, clients }
}

for (const count of [1, 40]) {
  test(`the next query of each of ${count} connections is answered, and closes its connection`, async (t) => {
    const { twin, clients } = await startWithClients(t, count)
    const parsed = twin.parsedByNode()
    twin.api.drain()
    for (const { socket } of clients) socket.write(QUERY)
    for (const client of clients) {
      while (!client.isEnded) await turn()
      assert.match(client.text, LAST_RESPONSE)
      assert.doesNotMatch(client.text, /keep-alive/i)
    }
    while (twin.api.connections.openConnections > 0) await turn()
    assert.equal(twin.parsedByNode(), parsed)
  })
}

test('a server that drains while responses wait sends each, and closes the connections of the queries after them', async (t) => {
  const { twin, clients } = await startWithClients(t, 40)
  for (const { socket } of clients) socket.write(QUERY)
  while (twin.api.connections.pendingRequests === 0) await turn()
  twin.api.drain()
  const closing = new Set<Client>()
  for (const client of clients) {
    while (!client.text.endsWith('}}')) await turn()
    assert.match(client.text, /^HTTP\/1\.1 200 OK\r\n/)
    if (/^Connection: close\r$/m.test(client.text)) closing.add(client)
  }
  for (const client of closing) while (!client.isEnded) await turn()
  for (const client of clients) {
    if (closing.has(client)) continue
    client.text = ''
    client.socket.write(QUERY)
    while (!client.isEnded) await turn()
    assert.match(client.text, LAST_RESPONSE)
  }
  while (twin.api.connections.openConnections > 0) await turn()
})
