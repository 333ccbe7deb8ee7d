/** Queries to one server over UDP, from many sockets with random ports, which change regularly, and random IDs. */

import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { addressFamily } from '../../values/ip-address.ts'
import { type DnsQuery, setQueryId } from './message/query.ts'
import { PendingQueries, type RawDnsResponse } from './pending-queries.ts'
import type { DnsServer } from './server.ts'

/** After this many queries, a socket is replaced by one with another port. */
const MAX_QUERIES_PER_SOCKET = 4096
const RECEIVE_BUFFER_BYTES = 4 << 20
/** More would make IDs easy to guess and free IDs hard to find. */
const MAX_PENDING_QUERIES = 8192

export class DnsUdpPool {
  readonly #server: DnsServer
  readonly #sockets: (UdpSocket | Promise<UdpSocket | null> | null)[]
  /** All open sockets, including retired ones with open queries. */
  readonly #openSockets = new Set<UdpSocket>()
  #isClosed = false

  /** Sockets open at their first use. */
  constructor(server: DnsServer, sockets: number) {
    this.#server = server
    this.#sockets = Array.from({ length: sockets }, () => null)
  }

  /** Sends the query from the socket with this number. Waits this many milliseconds. Never rejects. */
  query(dnsQuery: DnsQuery, timeoutMs: number, socket: number): Promise<RawDnsResponse> {
    const at = socket % this.#sockets.length
    const udpSocket = this.#sockets[at]
    return udpSocket instanceof UdpSocket
      ? this.#queryOn(udpSocket, at, dnsQuery, timeoutMs)
      : this.#openAndQuery(at, dnsQuery, timeoutMs)
  }

  close(): void {
    this.#isClosed = true
    for (const udpSocket of this.#openSockets) udpSocket.close()
  }

  #queryOn(udpSocket: UdpSocket, at: number, dnsQuery: DnsQuery, timeoutMs: number): Promise<RawDnsResponse> {
    if (this.#isClosed) return Promise.resolve('unreachable')
    if (++udpSocket.queriesSent % MAX_QUERIES_PER_SOCKET === 0) void this.#replace(at, udpSocket)
    return udpSocket.send(dnsQuery, timeoutMs)
  }

  async #openAndQuery(at: number, dnsQuery: DnsQuery, timeoutMs: number): Promise<RawDnsResponse> {
    const udpSocket = await (this.#sockets[at] ?? this.#open(at))
    return udpSocket === null ? 'unreachable' : this.#queryOn(udpSocket, at, dnsQuery, timeoutMs)
  }

  async #open(at: number): Promise<UdpSocket | null> {
    const opening = this.#connect()
    this.#sockets[at] = opening
    const udpSocket = await opening
    this.#sockets[at] = udpSocket
    return udpSocket
  }

  /** Replaces a socket. The old one stays in use until the new one is open, and closes after its last query. */
  async #replace(at: number, old: UdpSocket): Promise<void> {
    const udpSocket = await this.#connect()
    if (udpSocket === null) return
    this.#sockets[at] = udpSocket
    old.retire()
  }

  /** Returns null if there is no route or no socket is left. */
  async #connect(): Promise<UdpSocket | null> {
    const { address, port } = this.#server
    const socket = createSocket({
      type: addressFamily(address) === 4 ? 'udp4' : 'udp6',
      recvBufferSize: RECEIVE_BUFFER_BYTES,
    })
    try {
      socket.connect(port, address)
      await once(socket, 'connect')
    } catch {
      socket.close()
      return null
    }
    if (this.#isClosed) {
      socket.close()
      return null
    }
    const udpSocket = new UdpSocket(socket, () => this.#openSockets.delete(udpSocket))
    this.#openSockets.add(udpSocket)
    return udpSocket
  }
}

/** One connected socket. The system delivers only datagrams from the server's address and port. */
class UdpSocket {
  queriesSent = 0
  readonly #socket: Socket
  readonly #onClose: () => void
  readonly #pending = new PendingQueries(() => {
    if (this.#isRetired) this.retire()
  })
  #isRetired = false
  readonly #onSent = (error: Error | null) => {
    if (error !== null) this.#pending.settleAll('unreachable')
  }

  constructor(socket: Socket, onClose: () => void) {
    this.#socket = socket
    this.#onClose = onClose
    const server = socket.remoteAddress()
    socket.on('message', (message, { address, port }) => {
      if (port === server.port && address === server.address) this.#pending.receive(message)
    })
    socket.on('error', () => this.#pending.settleAll('unreachable'))
  }

  send(query: DnsQuery, timeoutMs: number): Promise<RawDnsResponse> {
    if (this.#pending.size >= MAX_PENDING_QUERIES) return Promise.resolve('unreachable')
    const id = this.#pending.freeId()
    const response = this.#pending.add(id, query, timeoutMs)
    this.#socket.send(setQueryId(query, id), this.#onSent)
    return response
  }

  /** Closes when no query is open. */
  retire(): void {
    this.#isRetired = true
    if (this.#pending.size > 0) return
    this.#socket.close()
    this.#onClose()
  }

  close(): void {
    this.#isRetired = false
    this.#pending.settleAll('unreachable')
    this.retire()
  }
}
