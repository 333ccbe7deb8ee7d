/** The front of the HTTP server: every connection is read ahead within bounds, and every request is admitted before Fastify hears of it. */

import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { ClientConnection, connectionOf } from './connection.ts'
import { Admission } from './limits/admission.ts'
import type { ConnectionRegistry, OpenConnection, PendingRequest } from './pending-request.ts'

/** Milliseconds between two looks for clients that take nothing of their answers. */
const STALL_CHECK_MS = 5_000
/** Connections that may be stalled for longer than that; of more, those that took the least are closed. */
const MAX_STALLED_CONNECTIONS = 256

export class ConnectionManager {
  readonly #server: Server
  readonly #admission: Admission
  readonly #connections: ConnectionRegistry
  readonly #stallTimer: NodeJS.Timeout
  /** Bytes that stalled connections had sent at the last look. */
  #stalledBytesSent = new Map<OpenConnection, number>()
  #isTracking = false

  /** Stands before the request listener that a server has. `ticks`: milliseconds of a clock that is never set. */
  constructor(server: Server, monotonicMs: () => number) {
    this.#server = server
    const [answer] = server.listeners('request') as [RequestListener]
    server.removeListener('request', answer)
    const begin = ({ request, response }: PendingRequest): void => answer(request, response)
    const admission = new Admission({
      monotonicMs,
      start: (next) => (next.request === null ? next.connection.read() : begin(next)),
    })
    this.#admission = admission
    this.#connections = {
      open: new Set(),
      enqueue: (next, isBehind) => admission.enqueue(next, isBehind),
      start: begin,
      queueLength: () => admission.waiting,
      monotonicMs: monotonicMs,
      earliestArrival: () => admission.earliestArrival(),
      unparsedBytes: 0,
      pendingRequests: 0,
      pipelinedRequests: 0,
      unparsedConnections: 0,
    }
    server.on('connection', (socket: Socket) => void new ClientConnection(socket, this.#connections))
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      const connection = connectionOf(request)
      if (connection === undefined) answer(request, response)
      else connection.add(request, response)
    })
    this.#stallTimer = setInterval(() => this.#closeStalled(), STALL_CHECK_MS).unref()
  }

  /** Connections that are open. */
  get openConnections(): number {
    return this.#connections.open.size
  }

  /** Requests that are read and not answered; of a connection that is not parsed yet, one. */
  get pendingRequests(): number {
    return this.#connections.pendingRequests + this.#connections.unparsedConnections
  }

  /** Bytes that are read and not parsed. */
  get unparsedBytes(): number {
    return this.#connections.unparsedBytes
  }

  /** Takes over a connection that another process has accepted, so many milliseconds ago. */
  adopt(socket: Socket, waited: number): void {
    this.#startRequestTimeouts()
    socket.allowHalfOpen = true
    socket.setNoDelay(true)
    this.#server.emit('connection', socket)
    connectionOf(socket)?.setAcceptDelay(waited)
    this.#admission.shortenNextTick()
  }

  /** node:http looks for slow requests only once it listens, which it never does here. */
  #startRequestTimeouts(): void {
    if (this.#isTracking || this.#server.listening) return
    this.#isTracking = true
    this.#server.emit('listening')
  }

  /** Closes the connections that have been idle for so many milliseconds. */
  closeIdle(milliseconds: number): void {
    for (const connection of this.#connections.open) if (connection.idleTime >= milliseconds) connection.close()
  }

  /** Closes all connections at once, whatever is under way. */
  destroyAll(): void {
    for (const { socket } of this.#connections.open) socket.destroy()
  }

  /** Ends the timers. */
  close(): void {
    clearInterval(this.#stallTimer)
    this.#admission.close()
  }

  /** Whoever takes nothing between two looks keeps an answer in memory; only so many may. */
  #closeStalled(): void {
    const before = this.#stalledBytesSent
    this.#stalledBytesSent = new Map()
    for (const connection of this.#connections.open) {
      const { socket } = connection
      if (socket.writableNeedDrain) this.#stalledBytesSent.set(connection, socket.bytesWritten - socket.writableLength)
    }
    const stuck = [...this.#stalledBytesSent].filter(([connection, sent]) => before.get(connection) === sent)
    for (const [{ socket }] of stuck.slice(0, Math.max(0, stuck.length - MAX_STALLED_CONNECTIONS))) socket.destroy()
  }
}
