/** Clients that do not read their responses: above a maximum, those that have stalled longest are closed. */

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { test } from 'node:test'
import { ConnectionManager } from '../../../src/api/http/connection-manager.ts'
import { until } from '../../until.ts'

/** More than the buffers of the system hold for a client that does not read. */
const BODY = Buffer.alloc(24 * 2 ** 20)

test('of the connections that sent nothing between two checks, those above the maximum are closed, and no others', async (t) => {
  const full: Socket[] = []
  const server = createServer((request, response) => {
    response.end(BODY)
    full.push(request.socket)
  })
  let check = (): void => assert.fail('no check is planned')
  const manager = new ConnectionManager(server, () => performance.now(), null, {
    maxStalled: 2,
    timers: {
      every(_, work) {
        check = work
        return () => {}
      },
    },
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const clients: Socket[] = []
  t.after(() => {
    for (const client of clients) client.destroy()
    manager.close()
    server.close()
  })
  const request = async (): Promise<Socket> => {
    const client = connect(port, '127.0.0.1').pause()
    client.on('error', () => {})
    clients.push(client)
    const count = full.length
    client.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
    await until(() => full.length > count)
    return client
  }
  const sentBytes = (socket: Socket): number => socket.bytesWritten - socket.writableLength
  for (let count = 0; count < 5; count++) await request()
  /** Waits until the system takes no more bytes. */
  const settled = async (): Promise<void> => {
    let before = ''
    await until(() => {
      const now = full.map((socket) => (socket.destroyed ? -1 : sentBytes(socket))).join()
      const isSame = now === before
      before = now
      return isSame
    })
  }
  await settled()
  check()
  assert.ok(
    full.every(({ destroyed }) => !destroyed),
    'the first check has nothing to compare',
  )
  const reader = clients[0]!
  const before = sentBytes(full[0]!)
  reader.resume()
  await until(() => sentBytes(full[0]!) > before)
  reader.pause()
  await settled()
  check()
  assert.deepEqual(
    full.map(({ destroyed }) => destroyed),
    [false, true, true, false, false],
  )
})
