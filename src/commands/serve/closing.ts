/** The end of a listener without a reset: the kernel takes no more connections, what it took is accepted, and only then the listener is closed. */

import { connect, type Server } from 'node:net'
import { setImmediate as turn } from 'node:timers/promises'

/** What node:net keeps of a listener, and of a connection. */
type ListenerHandle = { listen(backlog: number): number }
type ConnectionHandle = { getpeername(into: object): number }

/** Turns of the event loop, each of which accepts one connection, until the listener is closed though clients still come. */
const TURNS = 16_384

const EVERYWHERE: Record<string, string> = { '0.0.0.0': '127.0.0.1', '::': '::1' }

/**
 * Closing a listener resets what the kernel has taken and the process has not accepted. So its queue is narrowed to a single
 * place, which makes other clients wait as if nobody answered, and closed when a connection of our own has that place:
 * then no client has it.
 */
export async function closeListener(server: Server): Promise<void> {
  const { _handle: handle } = server as unknown as { _handle: ListenerHandle | null }
  if (handle === null) return // it was closed before
  handle.listen(0)
  for (let turns = 0; turns < TURNS; turns++) {
    if (await closesBehindOwn(server)) return
    await turn()
  }
  server.close()
}

/** Connects to the listener and closes it if that was possible; all of this before the event loop accepts anything. */
function closesBehindOwn(server: Server): Promise<boolean> {
  const { address, port } = server.address() as { address: string; port: number }
  const own = connect({ port, host: EVERYWHERE[address] ?? address }).on('error', () => {})
  return new Promise((resolve) => {
    process.nextTick(() => {
      const { _handle: handle } = own as unknown as { _handle: ConnectionHandle | null }
      const isIn = handle?.getpeername({}) === 0
      if (isIn) server.close()
      own.destroy()
      resolve(isIn)
    })
  })
}
