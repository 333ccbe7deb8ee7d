/** A client's connection: how far it is read ahead, in which order its requests begin, and how it is closed without losing an answer. */

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import {
  CROWDED_PARSE_CHUNK_BYTES,
  MAX_PARSED_PENDING,
  MAX_PIPELINED_REQUESTS,
  MAX_RESPONSES_WHILE_DRAINING,
  MAX_TOTAL_PIPELINED,
  MAX_UNPARSED_BYTES,
  PARSE_CHUNK_BYTES,
} from './limits/connection-bounds.ts'
import { lingerThenClose } from './linger.ts'
import type { ConnectionRegistry, PendingRequest } from './pending-request.ts'
import { takeListener } from './take-listener.ts'

const connectionsBySocket = new WeakMap<object, ClientConnection>()

/** The connection of a request, or of a socket; undefined for a request that came over no socket. */
export function connectionOf(from: IncomingMessage | Socket): ClientConnection | undefined {
  return connectionsBySocket.get('socket' in from ? from.socket : from)
}

export class ClientConnection {
  readonly socket: Socket
  readonly #registry: ConnectionRegistry
  /** node:http's own listeners, which this stands in front of. */
  readonly #parse: (bytes: Buffer) => void
  readonly #end: () => void
  readonly #pending: PendingRequest[] = []
  #unparsed: Buffer | null = null
  #isParsing = false
  #isPaused = false
  #hasEnded = false
  #isClosing = false
  #finalBytes: string | null = null
  #drainResponses = 0
  #lastActiveAt: number
  /** When the connection was accepted, if its first bytes have waited since; null once they were read. */
  #acceptedAt: number | null = null
  /** When what is held has come, while the connection is lined up to have it parsed. */
  #linedUp: number | null = null
  /** When the request that is parsed at this moment has come, if it is begun then. */
  #due: number | null = null

  /** Takes over a socket on which node:http has just begun to listen. */
  constructor(socket: Socket, all: ConnectionRegistry) {
    this.socket = socket
    this.#registry = all
    this.#lastActiveAt = all.monotonicMs()
    this.#parse = takeListener(socket, 'data')
    this.#end = takeListener(socket, 'end')
    connectionsBySocket.set(socket, this)
    all.open.add(this)
    socket.on('data', (bytes) => this.#onData(bytes))
    socket.on('end', () => this.#onEnd())
    socket.on('drain', () => this.#parseNext())
    socket.on('close', () => this.#onClose())
    const { resume } = socket
    socket.resume = () => (this.#unparsed === null ? resume.call(socket) : socket)
    socket.destroySoon = () => this.close()
  }

  /** The connection was accepted so many milliseconds ago: what can be read at once may have waited as long. */
  setAcceptDelay(milliseconds: number): void {
    this.#acceptedAt = this.#registry.monotonicMs() - milliseconds
    setImmediate(() => setImmediate(() => (this.#acceptedAt = null)))
  }

  /** Requests that are parsed and not answered. */
  get waiting(): number {
    return this.#pending.length
  }

  /** The same of all connections of the process. */
  get totalPending(): number {
    return this.#registry.pendingRequests + this.#registry.unparsedConnections
  }

  /** When the request that is being answered had arrived. */
  get arrivedAt(): number {
    return this.#pending[0]?.arrivedAt ?? this.#registry.monotonicMs()
  }

  /** Milliseconds since anything was read or answered; 0 while a request is under way. */
  get idleTime(): number {
    return this.waiting > 0 || this.#unparsed !== null ? 0 : this.#registry.monotonicMs() - this.#lastActiveAt
  }

  /** Adds a request that node:http has parsed. */
  add(request: IncomingMessage, response: ServerResponse): void {
    const arrival = { connection: this, request, response, arrivedAt: this.#due ?? this.#arrived() }
    this.#pending.push(arrival)
    this.#registry.pendingRequests++
    if (this.waiting > 1) this.#registry.pipelinedRequests++
    response.once('close', () => this.#onResponded(arrival))
    if (this.waiting === 1 && this.#due === null) this.#registry.enqueue(arrival, false)
  }

  /** The turn of a connection that was lined up unread: parses what is held, and begins the first request of it. */
  read(): void {
    this.#due = this.#linedUp
    this.#leaveLine()
    this.#parseNext()
    this.#due = null
    const [first] = this.#pending
    if (first === undefined) return
    if (this.#hasEnded) this.#onEnd()
    if (!this.socket.destroyed && !first.request.destroyed) this.#registry.start(first)
  }

  /** Counts an answer that is sent while the server drains; true if it has to be the last one. */
  isFinalResponse(): boolean {
    return (this.waiting <= 1 && this.#unparsed === null) || ++this.#drainResponses > MAX_RESPONSES_WHILE_DRAINING
  }

  /** Answers the requests that came before, then says why the next one could not be read, and closes. */
  rejectWith(bytes: string): void {
    this.#finalBytes = bytes
    this.#discardUnparsed()
    this.#dropPartialRequest()
    if (this.waiting === 0) this.close()
  }

  /** A request did not come whole in time: answers those before it, and closes. If its rest is held here, the client is not to blame. */
  abandonPartialRequest(): void {
    if (this.#unparsed !== null) return
    this.#dropPartialRequest()
    if (this.waiting === 0) this.socket.destroy()
    else this.#finalBytes ??= ''
  }

  /** The rest of the last request will not come, so it gets no answer, unless that has begun. */
  #dropPartialRequest(): void {
    const { request, response } = this.#pending.at(-1) ?? {}
    if (request?.complete !== false || response?.headersSent) return
    this.#pending.pop()
    this.#decrementCounts()
  }

  /** Sends what is written, then reads and drops what the client still sends until it closes too. */
  close(): void {
    if (this.#isClosing) return
    this.#isClosing = true
    this.#discardUnparsed()
    this.socket.once('finish', () => lingerThenClose(this.socket, this.#hasEnded)).end(this.#finalBytes ?? '')
    this.socket.resume()
  }

  #onData(bytes: Buffer): void {
    if (this.#isClosing || this.#finalBytes !== null) return
    this.#lastActiveAt = this.#registry.monotonicMs()
    this.#setUnparsed(this.#unparsed === null ? bytes : Buffer.concat([this.#unparsed, bytes]))
    if (this.#linedUp === null && this.waiting === 0 && this.#registry.queueLength() >= MAX_PARSED_PENDING)
      this.#lineUp()
    this.#parseNext()
  }

  #lineUp(): void {
    this.#linedUp = this.#arrived()
    this.#registry.unparsedConnections++
    this.#registry.enqueue({ connection: this, request: null }, false)
  }

  #leaveLine(): void {
    if (this.#linedUp !== null) this.#registry.unparsedConnections--
    this.#linedUp = null
  }

  /** When bytes that are read at this moment had come. */
  #arrived(): number {
    const arrived = Math.min(this.#registry.earliestArrival(), this.#acceptedAt ?? Number.POSITIVE_INFINITY)
    this.#acceptedAt = null
    return arrived
  }

  /** Parses what is held as far as it may go, and pauses the socket if something is left. */
  #parseNext(): void {
    if (this.#isParsing) return
    this.#isParsing = true
    while (this.#unparsed !== null && this.#mayParse()) {
      const bytes = this.#unparsed
      const length =
        this.#registry.pipelinedRequests < MAX_TOTAL_PIPELINED ? PARSE_CHUNK_BYTES : CROWDED_PARSE_CHUNK_BYTES
      this.#setUnparsed(bytes.length > length ? bytes.subarray(length) : null)
      this.#parse(bytes.length > length ? bytes.subarray(0, length) : bytes)
    }
    this.#isParsing = false
    if (this.#unparsed === null) this.#resumeOrEnd()
    else if (this.#linedUp !== null && this.#unparsed.length <= PARSE_CHUNK_BYTES) return
    else if (this.#registry.unparsedBytes > MAX_UNPARSED_BYTES) this.socket.destroy()
    else {
      this.#isPaused = true
      this.socket.pause()
    }
  }

  #mayParse(): boolean {
    const { destroyed, writableNeedDrain } = this.socket
    if (this.#isClosing || this.#finalBytes !== null || destroyed || writableNeedDrain) return false
    if (this.#linedUp !== null) return false
    if (this.#pending.at(-1)?.request.complete === false) return true // its body: it may be the one that is waited for
    return this.waiting < (this.#registry.pipelinedRequests < MAX_TOTAL_PIPELINED ? MAX_PIPELINED_REQUESTS : 1)
  }

  #resumeOrEnd(): void {
    this.#resume()
    if (this.#hasEnded && this.waiting === 0 && !this.#isClosing) this.#end()
  }

  /** A client that has sent several requests may only have ended its side; one that waits for a single answer is taken to be gone. */
  #onEnd(): void {
    this.#hasEnded = true
    if (this.waiting <= 1 && this.#unparsed === null && !this.#isClosing) this.#end()
  }

  #onResponded(arrival: PendingRequest): void {
    if (this.#pending[0] !== arrival) return
    this.#pending.shift()
    this.#decrementCounts()
    this.#lastActiveAt = this.#registry.monotonicMs()
    const [next] = this.#pending
    if (this.#isClosing) return
    if (next !== undefined) this.#registry.enqueue(next, true)
    else if (this.#finalBytes !== null) this.close()
    this.#parseNext()
  }

  #decrementCounts(): void {
    this.#registry.pendingRequests--
    if (this.waiting > 0) this.#registry.pipelinedRequests--
  }

  #setUnparsed(bytes: Buffer | null): void {
    this.#registry.unparsedBytes += (bytes?.length ?? 0) - (this.#unparsed?.length ?? 0)
    this.#unparsed = bytes
  }

  /** Forgets what was read and will not be answered. */
  #discardUnparsed(): void {
    this.#setUnparsed(null)
    this.#resume()
  }

  #resume(): void {
    if (this.#isPaused) this.socket.resume()
    this.#isPaused = false
  }

  #onClose(): void {
    this.#isClosing = true
    this.#setUnparsed(null)
    this.#leaveLine()
    this.#registry.pendingRequests -= this.waiting
    this.#registry.pipelinedRequests -= Math.max(0, this.waiting - 1)
    this.#pending.length = 0
    this.#registry.open.delete(this)
  }
}
