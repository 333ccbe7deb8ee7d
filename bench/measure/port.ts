/** Finds a free port for a server that must know its port before it starts. */

import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { createServer } from 'node:net'

/** Returns a port of 127.0.0.1 that is free for TCP and UDP. */
export async function findFreePort(): Promise<number> {
  const listener = createServer().listen(0, '127.0.0.1')
  await once(listener, 'listening')
  const { port } = listener.address() as { port: number }
  const socket = createSocket('udp4')
  const isFree = await once(socket.bind(port, '127.0.0.1'), 'listening').then(
    () => true,
    () => false,
  )
  await Promise.all([
    new Promise((done) => socket.close(() => done(null))),
    new Promise((done) => listener.close(done)),
  ])
  return isFree ? port : findFreePort()
}
