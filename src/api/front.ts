/** The front of the HTTP server: every connection is read ahead within bounds, and every request is admitted before Fastify hears of it. */

import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { Admission } from './admission.ts'
import type { Arrival, Connections, Open } from './arrival.ts'
import { Connection, connectionOf } from './connection.ts'

/** Milliseconds between two looks for clients that take nothing of their answers. */
const LOOK = 5_000
/** Connections that may be stalled for longer than that; of more, those that took the least are closed. */
const STALLED = 256

export class Front {
  readonly #server: Server
  readonly #admission: Admission
  readonly #connections: Connections
  readonly #looks: NodeJS.Timeout
  /** Bytes that stalled connections had sent at the last look. */
  #stalled = new Map<Open, number>()
  #isTracking = false

  /** Stands before the request listener that a server has. `ticks`: milliseconds of a clock that is never set. */
  constructor(server: Server, ticks: () => number) {
    this.#server = server
    const [answer] = server.listeners('request') as [RequestListener]
    server.removeListener('request', answer)
    const begin = ({ request, response }: Arrival): void => answer(request, response)
    const admission = new Admission({
      ticks,
      begin: (next) => (next.request === null ? next.connection.read() : begin(next)),
    })
    this.#admission = admission
    this.#connections = {
      open: new Set(),
      enter: (next, isBehind) => admission.enter(next, isBehind),
      begin,
      lineLength: () => admission.waiting,
      ticks,
      arrived: () => admission.arrived(),
      heldBytes: 0,
      waiting: 0,
      behind: 0,
      unread: 0,
    }
    server.on('connection', (socket: Socket) => void new Connection(socket, this.#connections))
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      const connection = connectionOf(request)
      if (connection === undefined) answer(request, response)
      else connection.add(request, response)
    })
    this.#looks = setInterval(() => this.#closeStalled(), LOOK).unref()
  }

  /** Connections that are open. */
  get open(): number {
    return this.#connections.open.size
  }

  /** Requests that are read and not answered; of a connection that is not parsed yet, one. */
  get waiting(): number {
    return this.#connections.waiting + this.#connections.unread
  }

  /** Bytes that are read and not parsed. */
  get heldBytes(): number {
    return this.#connections.heldBytes
  }

  /** Takes over a connection that another process has accepted, so many milliseconds ago. */
  adopt(socket: Socket, waited: number): void {
    this.#track()
    socket.allowHalfOpen = true
    socket.setNoDelay(true)
    this.#server.emit('connection', socket)
    connectionOf(socket)?.hasWaited(waited)
    this.#admission.hurry()
  }

  /** node:http looks for slow requests only once it listens, which it never does here. */
  #track(): void {
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
    clearInterval(this.#looks)
    this.#admission.close()
  }

  /** Whoever takes nothing between two looks keeps an answer in memory; only so many may. */
  #closeStalled(): void {
    const before = this.#stalled
    this.#stalled = new Map()
    for (const connection of this.#connections.open) {
      const { socket } = connection
      if (socket.writableNeedDrain) this.#stalled.set(connection, socket.bytesWritten - socket.writableLength)
    }
    const stuck = [...this.#stalled].filter(([connection, sent]) => before.get(connection) === sent)
    for (const [{ socket }] of stuck.slice(0, Math.max(0, stuck.length - STALLED))) socket.destroy()
  }
}
