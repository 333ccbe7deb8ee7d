/** A small proxy in front of several servers: each connection goes to the next one that accepts it. */

import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import type { TestContext } from 'node:test'

/** Listens until the test has ended. `addresses` are `http://HOST:PORT`. Returns the address of the proxy. */
export async function proxyOver(test: TestContext, addresses: readonly string[]): Promise<string> {
  const places = addresses.map((address) => new URL(address))
  const open = new Set<Socket>()
  let turn = 0
  const server = createServer({ pauseOnConnect: true }, async (client) => {
    const behind = await reach(places.map((_, index) => places[(turn + index) % places.length]!))
    turn++
    if (behind === null) return client.destroy()
    for (const each of [client, behind]) {
      open.add(each)
      each.on('close', () => open.delete(each)).on('error', () => {})
    }
    client.pipe(behind).pipe(client)
    client.on('close', () => behind.destroy())
    behind.on('close', () => client.end())
    client.resume()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  test.after(() => {
    server.close()
    for (const each of open) each.destroy()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** Connects to the first server that accepts. Returns null if none does. */
async function reach(places: readonly URL[]): Promise<Socket | null> {
  for (const { hostname, port } of places) {
    const socket = connect(Number(port), hostname)
    try {
      await once(socket, 'connect')
      return socket
    } catch {
      // the next one
    }
  }
  return null
}
