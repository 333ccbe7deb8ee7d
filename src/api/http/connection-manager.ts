/** Manages the connections of an HTTP server: limits reads ahead, and admits requests before Fastify gets them. */

import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { ClientConnection, connectionOf } from './connection.ts'
import { Admission } from './limits/admission.ts'
import {
  type ConnectionRegistry,
  countPending,
  MAX_PARSED_PENDING,
  type OpenConnection,
  type QueryRecognizer,
} from './pending-request.ts'
import { SYSTEM_TIMERS, type Timers } from './timers.ts'

/** Milliseconds between two checks for clients that do not read their responses. */
const STALL_CHECK_MS = 5_000
/** The maximum number of connections that may be stalled between two checks. Further ones are closed. */
const MAX_STALLED_CONNECTIONS = 256

/** For tests: the timers, and how many connections may be stalled. */
type StallOptions = { timers?: Pick<Timers, 'every'>; maxStalled?: number }

export class ConnectionManager {
  readonly #server: Server
  readonly #admission: Admission
  readonly #connections: ConnectionRegistry
  readonly #stopStallChecks: () => void
  readonly #maxStalled: number
  /** Bytes that stalled connections had sent at the last check. */
  #stalledBytesSent = new Map<OpenConnection, number>()
  #isTracking = false

  /** Replaces the request listener of the server, and calls it for admitted requests that node:http has parsed. */
  constructor(
    server: Server,
    monotonicMs: () => number,
    directPath: QueryRecognizer | null,
    { timers = SYSTEM_TIMERS, maxStalled = MAX_STALLED_CONNECTIONS }: StallOptions = {},
  ) {
    this.#server = server
    const [handleRequest] = server.listeners('request') as [RequestListener]
    server.removeListener('request', handleRequest)
    const admission = new Admission(monotonicMs)
    this.#admission = admission
    this.#connections = {
      open: new Set(),
      enqueue: (next, isPipelined) => admission.enqueue(next, isPipelined),
      handle: handleRequest,
      directPath,
      isQueueFull: () => admission.waiting >= MAX_PARSED_PENDING,
      monotonicMs,
      earliestArrival: () => admission.earliestArrival(),
      unparsedBytes: 0,
      pendingRequests: 0,
      pipelinedRequests: 0,
      unparsedConnections: 0,
    }
    server.on('connection', (socket: Socket) => {
      // The socket keeps the address, which the kernel forgets if the client resets the connection.
      if (socket.remoteAddress === undefined) socket.destroy()
      else void new ClientConnection(socket, this.#connections)
    })
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      const connection = connectionOf(request.socket)
      if (connection === undefined) handleRequest(request, response)
      else connection.add(request, response)
    })
    this.#maxStalled = maxStalled
    this.#stopStallChecks = timers.every(STALL_CHECK_MS, () => this.#closeStalled())
  }

  /** The number of open connections. */
  get openConnections(): number {
    return this.#connections.open.size
  }

  get pendingRequests(): number {
    return countPending(this.#connections)
  }

  /** The number of bytes that are read and not parsed. */
  get unparsedBytes(): number {
    return this.#connections.unparsedBytes
  }

  /** Takes over a connection that another process accepted `waited` milliseconds ago. */
  adopt(socket: Socket, waited: number): void {
    this.#startRequestTimeouts()
    socket.allowHalfOpen = true
    socket.setNoDelay(true)
    this.#server.emit('connection', socket)
    connectionOf(socket)?.setAcceptDelay(waited)
    this.#admission.shortenNextTick()
  }

  /** Starts the check for slow requests, which node:http starts only when it listens. This server never listens. */
  #startRequestTimeouts(): void {
    if (this.#isTracking || this.#server.listening) return
    this.#isTracking = true
    this.#server.emit('listening')
  }

  /** Closes the connections that were idle for the given milliseconds. */
  closeIdle(milliseconds: number): void {
    for (const connection of this.#connections.open) if (connection.idleTime >= milliseconds) connection.close()
  }

  /** Closes all connections at once, even during a response. */
  destroyAll(): void {
    for (const { socket } of this.#connections.open) socket.destroy()
  }

  /** Stops the timers. */
  close(): void {
    this.#stopStallChecks()
    this.#admission.close()
  }

  /** Closes stalled connections above the maximum, because each keeps a response in memory. */
  #closeStalled(): void {
    const before = this.#stalledBytesSent
    this.#stalledBytesSent = new Map()
    for (const connection of this.#connections.open) {
      const { socket } = connection
      if (socket.writableNeedDrain) this.#stalledBytesSent.set(connection, socket.bytesWritten - socket.writableLength)
    }
    const stalled = [...this.#stalledBytesSent].filter(([connection, sent]) => before.get(connection) === sent)
    for (const [{ socket }] of stalled.slice(0, Math.max(0, stalled.length - this.#maxStalled))) socket.destroy()
  }
}
