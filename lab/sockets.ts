/** The listening sockets of the lab and all their connections, which close together. */

import { connect, createServer, type Server, type Socket } from 'node:net'
import { addressFamily, type IpAddress } from '../src/values/ip-address.ts'

/**
 * `per_host`: each IPv4 machine listens on its own address. `shared`: all listen on 127.0.0.1, each on its own ports.
 */
export type LabAddresses = 'per_host' | 'shared'

export type Sockets = {
  /** Returns where the machine with this address listens. */
  addressOf(address: IpAddress): IpAddress
  /**
   * Listens on a free port of the address and passes connections to `onSocket`. Returns null if this computer lacks the
   * address.
   */
  listen(address: IpAddress, onSocket: (socket: Socket) => void): Promise<number | null>
  /** Returns a port of the address on which nothing listens, and nothing can as long as these are open. */
  reserveClosedPort(address: IpAddress): Promise<number | null>
  /** Stops listening on the addresses of a family, and destroys their connections. */
  disconnectFamily(family: 4 | 6): Promise<void>
  close(): Promise<void>
}

const HOME = '127.0.0.1' as IpAddress
const NEIGHBOUR = '127.0.0.2' as IpAddress

/** Returns `per_host` if this computer can listen on an address other than 127.0.0.1, as Linux can. */
export async function addressesHere(): Promise<LabAddresses> {
  const probe = createServer()
  const port = await bind(probe, NEIGHBOUR)
  if (port !== null) await new Promise((resolve) => probe.close(resolve))
  return port === null ? 'shared' : 'per_host'
}

export async function openSockets(addresses: LabAddresses): Promise<Sockets> {
  const addressOf = (address: IpAddress): IpAddress =>
    addresses === 'shared' && addressFamily(address) === 4 ? HOME : address
  const servers = new Map<Server, IpAddress>()
  const connected = new Set<Socket>()
  const end = async (isEnded: (address: IpAddress) => boolean) => {
    const ended = [...servers].filter(([, address]) => isEnded(address)).map(([server]) => server)
    const closed = ended.map((server) => new Promise((resolve) => server.close(resolve)))
    for (const server of ended) servers.delete(server)
    for (const socket of connected) if (isEnded((socket.localAddress ?? '') as IpAddress)) socket.destroy()
    await Promise.all(closed)
  }
  const track = (socket: Socket) => {
    connected.add(socket)
    socket.on('error', () => {}).on('close', () => connected.delete(socket))
  }
  const listen: Sockets['listen'] = async (address, onSocket) => {
    const server = createServer({ noDelay: true }, (socket) => {
      track(socket)
      onSocket(socket)
    })
    const port = await bind(server, addressOf(address))
    if (port !== null) servers.set(server, address)
    return port
  }
  const anchor = await listen(HOME, () => {})
  return {
    addressOf,
    listen,
    reserveClosedPort: (address) => reserveOutgoingPort(addressOf(address), anchor!, track),
    disconnectFamily: (which) => end((address) => addressFamily(address) === which),
    close: () => end(() => true),
  }
}

/** Resolves to null if this computer lacks the address. */
function failed(resolve: (port: null) => void, reject: (error: Error) => void) {
  return (error: NodeJS.ErrnoException) => {
    if (error.code === 'EADDRNOTAVAIL' || error.code === 'EAFNOSUPPORT') resolve(null)
    else reject(error)
  }
}

function bind(server: Server, host: IpAddress): Promise<number | null> {
  return new Promise((resolve, reject) => {
    server.once('error', failed(resolve, reject))
    server.listen(0, host, () => resolve((server.address() as { port: number }).port))
  })
}

/** An outgoing connection occupies the port. */
function reserveOutgoingPort(
  localAddress: IpAddress,
  port: number,
  track: (socket: Socket) => void,
): Promise<number | null> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port, localAddress }, () => resolve(socket.localPort!))
    socket.once('error', failed(resolve, reject))
    track(socket)
  })
}
