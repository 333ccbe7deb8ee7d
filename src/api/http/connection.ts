/** A client connection: limits what is read ahead, orders its requests, and closes it without losing a response. */

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import * as bounds from './limits/connection-bounds.ts'
import { lingerThenClose } from './linger.ts'
import type { ConnectionRegistry, PendingRequest } from './pending-request.ts'
import { takeListener } from './take-listener.ts'

const connectionsBySocket = new WeakMap<object, ClientConnection>()

/** The connection of a request or a socket; undefined for a request without a socket, such as an injected one. */
export function connectionOf(from: IncomingMessage | Socket): ClientConnection | undefined {
  return connectionsBySocket.get('socket' in from ? from.socket : from)
}

export class ClientConnection {
  readonly socket: Socket
  readonly #registry: ConnectionRegistry
  /** The listeners of node:http that this connection calls. */
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
  /** When the connection was accepted; null after its first bytes were read. */
  #acceptedAt: number | null = null
  /** When the unparsed bytes arrived, while the connection waits in the queue to parse them. */
  #queuedArrival: number | null = null
  /** When the first request arrived, while read() parses and starts it. */
  #startingArrival: number | null = null

  /** Takes over a socket to which node:http has just added its listeners. */
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

  /** Sets how long ago the connection was accepted. Bytes that are read now may have waited as long. */
  setAcceptDelay(milliseconds: number): void {
    this.#acceptedAt = this.#registry.monotonicMs() - milliseconds
    setImmediate(() => setImmediate(() => (this.#acceptedAt = null)))
  }

  /** The number of parsed requests without a response. */
  get waiting(): number {
    return this.#pending.length
  }

  /** The number of pending requests of all connections of the process. */
  get totalPending(): number {
    return this.#registry.pendingRequests + this.#registry.unparsedConnections
  }

  /** When the current request arrived: monotonic milliseconds. */
  get arrivedAt(): number {
    return this.#pending[0]?.arrivedAt ?? this.#registry.monotonicMs()
  }

  /** Milliseconds since the last read or response; 0 while a request is pending. */
  get idleTime(): number {
    return this.waiting > 0 || this.#unparsed !== null ? 0 : this.#registry.monotonicMs() - this.#lastActiveAt
  }

  /** Adds a request that node:http has parsed. */
  add(request: IncomingMessage, response: ServerResponse): void {
    const arrival = { connection: this, request, response, arrivedAt: this.#startingArrival ?? this.#arrived() }
    this.#pending.push(arrival)
    this.#registry.pendingRequests++
    if (this.waiting > 1) this.#registry.pipelinedRequests++
    response.once('close', () => this.#onResponded(arrival))
    if (this.waiting === 1 && this.#startingArrival === null) this.#registry.enqueue(arrival, false)
  }

  /** Parses the unparsed bytes when the connection's turn in the queue has come, and starts the first request. */
  read(): void {
    this.#startingArrival = this.#queuedArrival
    this.#dequeue()
    this.#parseNext()
    this.#startingArrival = null
    const [first] = this.#pending
    if (first === undefined) return
    if (this.#hasEnded) this.#onEnd()
    if (!this.socket.destroyed && !first.request.destroyed) this.#registry.start(first)
  }

  /** Counts a response that is sent while the server drains. Returns whether it must be the last one. */
  isFinalResponse(): boolean {
    return (
      (this.waiting <= 1 && this.#unparsed === null) || ++this.#drainResponses > bounds.MAX_RESPONSES_WHILE_DRAINING
    )
  }

  /** Answers the pending requests, then sends the given response to an unreadable request, and closes. */
  rejectWith(bytes: string): void {
    this.#finalBytes = bytes
    this.#discardUnparsed()
    this.#dropPartialRequest()
    if (this.waiting === 0) this.close()
  }

  /** Closes after the responses before a request that is incomplete, unless its rest is among the unparsed bytes. */
  abandonPartialRequest(): void {
    if (this.#unparsed !== null) return
    this.#dropPartialRequest()
    if (this.waiting === 0) this.socket.destroy()
    else this.#finalBytes ??= ''
  }

  /** Drops the last request if it is incomplete, unless its response has started. */
  #dropPartialRequest(): void {
    const { request, response } = this.#pending.at(-1) ?? {}
    if (request?.complete !== false || response?.headersSent) return
    this.#pending.pop()
    this.#decrementCounts()
  }

  /** Sends what is written, then reads and drops further bytes until the client closes too. */
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
    if (this.#queuedArrival === null && this.waiting === 0 && this.#registry.queueLength() >= bounds.MAX_PARSED_PENDING)
      this.#enqueue()
    this.#parseNext()
  }

  #enqueue(): void {
    this.#queuedArrival = this.#arrived()
    this.#registry.unparsedConnections++
    this.#registry.enqueue({ connection: this, request: null }, false)
  }

  #dequeue(): void {
    if (this.#queuedArrival !== null) this.#registry.unparsedConnections--
    this.#queuedArrival = null
  }

  /** When the bytes that are read now arrived. */
  #arrived(): number {
    const arrived = Math.min(this.#registry.earliestArrival(), this.#acceptedAt ?? Number.POSITIVE_INFINITY)
    this.#acceptedAt = null
    return arrived
  }

  /** Parses the unparsed bytes as far as the limits allow, and pauses the socket if some are left. */
  #parseNext(): void {
    if (this.#isParsing) return
    this.#isParsing = true
    while (this.#unparsed !== null && this.#mayParse()) {
      const bytes = this.#unparsed
      const length = bounds.parseChunkBytes(this.#registry.pipelinedRequests)
      this.#setUnparsed(bytes.length > length ? bytes.subarray(length) : null)
      this.#parse(bytes.length > length ? bytes.subarray(0, length) : bytes)
    }
    this.#isParsing = false
    if (this.#unparsed === null) {
      this.#resume()
      if (this.#hasEnded && this.waiting === 0 && !this.#isClosing) this.#end()
    } else if (this.#queuedArrival !== null && this.#unparsed.length <= bounds.PARSE_CHUNK_BYTES) return
    else if (this.#registry.unparsedBytes > bounds.MAX_UNPARSED_BYTES) this.socket.destroy()
    else {
      this.#isPaused = true
      this.socket.pause()
    }
  }

  #mayParse(): boolean {
    const { destroyed, writableNeedDrain } = this.socket
    if (this.#isClosing || this.#finalBytes !== null || destroyed || writableNeedDrain) return false
    if (this.#queuedArrival !== null) return false
    if (this.#pending.at(-1)?.request.complete === false) return true // its body: its handler may wait for it
    return this.waiting < bounds.maxPipelinedRequests(this.#registry.pipelinedRequests)
  }

  /** The client has ended its side. With several requests it may still read. Otherwise it counts as disconnected. */
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

  /** Discards bytes that will not be parsed. */
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
    this.#dequeue()
    this.#registry.pendingRequests -= this.waiting
    this.#registry.pipelinedRequests -= Math.max(0, this.waiting - 1)
    this.#pending.length = 0
    this.#registry.open.delete(this)
  }
}
