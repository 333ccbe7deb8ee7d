/** The end of a listener without a reset: the kernel takes no more connections, what it took is accepted, and only then the listener is closed. */

import { readFileSync } from 'node:fs'
import { connect, type Server, type Socket } from 'node:net'
import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises'

/** What node:net keeps of a listener, and of a connection. */
type ListenerHandle = { listen(backlog: number): number }
type ConnectionHandle = { getpeername(into: object): number }

/** Turns of the event loop, each of which accepts one connection, until the listener is closed though clients still come. */
const MAX_CLOSING_TICKS = 16_384

/** Milliseconds until it is looked again whether clients are half connected, and how often: they try again within a second. */
const LOOK = 20
const LOOKS = 150
/** Where Linux lists connections, and its number for one that is half made. */
const LISTS = ['/proc/net/tcp', '/proc/net/tcp6']
const HALF_MADE = '03'

const LOOPBACK_OF_WILDCARD: Record<string, string> = { '0.0.0.0': '127.0.0.1', '::': '::1' }

/**
 * Closing a listener resets what the kernel has taken and the process has not accepted. So its queue is narrowed to a single
 * place, which makes other clients wait as if nobody answered, and closed when a connection of our own has that place:
 * then no client has it. A client that came at the same time as another may be half connected: it is waited for.
 */
export async function closeListener(server: Server): Promise<void> {
  const { _handle: handle } = server as unknown as { _handle: ListenerHandle | null }
  if (handle === null) return // it was closed before
  const { address, port } = server.address() as { address: string; port: number }
  const host = LOOPBACK_OF_WILDCARD[address] ?? address
  handle.listen(0)
  let looks = 0
  for (let turns = 0; turns < MAX_CLOSING_TICKS; turns++) {
    const own = connect({ port, host }).on('error', () => {})
    await connecting()
    const isIn = isConnected(own) // before the event loop has accepted anything
    const isLast = isIn && (looks++ >= LOOKS || !hasHalfMade(port))
    if (isLast) server.close()
    own.destroy()
    if (isLast) return
    await (isIn ? sleep(LOOK) : turn())
  }
  server.close()
}

/** Resolves when node:net has begun to connect, which it does once the current callback is over. */
function connecting(): Promise<void> {
  return new Promise((resolve) => process.nextTick(resolve))
}

/** True as soon as the kernel has made the connection, before node:net hears of it. */
function isConnected(socket: Socket): boolean {
  const { _handle: handle } = socket as unknown as { _handle: ConnectionHandle | null }
  return handle?.getpeername({}) === 0
}

/** Whether a client of a port has been answered by the kernel and is not in its queue yet; false where that is not told. */
function hasHalfMade(port: number): boolean {
  const pattern = new RegExp(`:${port.toString(16).toUpperCase().padStart(4, '0')} \\S+ ${HALF_MADE} `)
  return LISTS.some((list) => {
    try {
      return pattern.test(readFileSync(list, 'latin1'))
    } catch {
      return false
    }
  })
}
