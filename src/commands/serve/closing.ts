/** The end of a listener without a reset: the kernel takes no more connections, what it took is accepted, and only then the listener is closed. */

import { readFileSync } from 'node:fs'
import { type AddressInfo, connect, type Server, type Socket } from 'node:net'
import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises'

/** What node:net keeps of a listener, and of a connection. */
type ListenerHandle = { listen(backlog: number): number }
type ConnectionHandle = { getpeername(into: object): number }

/** Turns of the event loop, each of which accepts one connection, until the listener is closed though clients still come. */
const TURNS = 16_384

/** Connections that the queue holds at the end. Far fewer, and the kernel would answer clients that it keeps no note of (SYN cookies). */
const PLACES = 8
/** Milliseconds until it is looked again whether clients are half connected, and how often: they try again within a second. */
const LOOK = 20
const LOOKS = 150
/** Where Linux lists connections, and its number for one that is half made. */
const LISTS = ['/proc/net/tcp', '/proc/net/tcp6']
const HALF_MADE = '03'

const EVERYWHERE: Record<string, string> = { '0.0.0.0': '127.0.0.1', '::': '::1' }

/**
 * Closing a listener resets what the kernel has taken and the process has not accepted. So its queue is narrowed and filled
 * with connections of our own, which makes other clients wait as if nobody answered, and closed when it holds nothing else.
 * A client that came while the queue was filled may be half connected: it is waited for.
 */
export async function closeListener(server: Server): Promise<void> {
  const { _handle: handle } = server as unknown as { _handle: ListenerHandle | null }
  if (handle === null) return // it was closed before
  const { port } = server.address() as AddressInfo
  const own = ownConnections(server)
  handle.listen(PLACES - 1) // the kernel takes one more
  for (let turns = 0, looks = 0; turns < TURNS; turns++) {
    const isFull = await fill(server, own) // before the event loop accepts anything
    if (isFull && (looks++ >= LOOKS || !hasHalfMade(port))) break
    await (isFull ? sleep(LOOK) : turn())
  }
  server.close()
  for (const socket of own.values()) socket.destroy()
}

/** Those of our own that are in the queue, by their port: what is accepted of them is not served. */
function ownConnections(server: Server): Map<number, Socket> {
  const own = new Map<number, Socket>()
  const [accept] = server.listeners('connection') as [(socket: Socket) => void]
  server.removeListener('connection', accept)
  server.on('connection', (socket: Socket) => {
    const { remotePort = 0 } = socket
    if (!own.has(remotePort)) return accept(socket)
    own.get(remotePort)!.destroy()
    own.delete(remotePort)
    socket.destroy()
  })
  return own
}

/** Fills the queue with connections of our own; true if nothing else is in it. */
async function fill(server: Server, own: Map<number, Socket>): Promise<boolean> {
  const { address, port } = server.address() as AddressInfo
  while (own.size < PLACES) {
    const socket = connect({ port, host: EVERYWHERE[address] ?? address }).on('error', () => {})
    await connecting()
    if (!isConnected(socket)) {
      socket.destroy()
      return false
    }
    own.set(socket.localPort!, socket)
  }
  return true
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
