/** A client connection: limits what is read ahead, orders its requests, and closes it without losing a response. */

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { DirectPathSelector } from './direct/direct-path.ts'
import {
  type ConnectionRegistry,
  countPending,
  MAX_RESPONSES_WHILE_DRAINING,
  MAX_UNPARSED_BYTES,
  maxPipelinedRequests,
  PARSE_CHUNK_BYTES,
  ParsedRequest,
  PendingQueue,
  type PendingRequest,
  parseChunkBytes,
} from './pending-request.ts'

const connectionsBySocket = new WeakMap<object, ClientConnection>()

/** The connection of a socket; undefined for a socket that is not real, such as that of an injected request. */
export function connectionOf(socket: Socket): ClientConnection | undefined {
  return connectionsBySocket.get(socket)
}

export class ClientConnection {
  readonly socket: Socket
  readonly #registry: ConnectionRegistry
  /** The listeners of node:http that this connection calls. */
  readonly #parse: (bytes: Buffer) => void
  readonly #end: () => void
  readonly #pending: PendingQueue
  readonly #directPath: DirectPathSelector
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
  /** When the first request arrived, while #read() parses and starts it. */
  #startingArrival: number | null = null

  /** Takes over a socket to which node:http has just added its listeners. */
  constructor(socket: Socket, all: ConnectionRegistry) {
    this.socket = socket
    this.#registry = all
    this.#pending = new PendingQueue(all)
    this.#directPath = new DirectPathSelector(all.directPath)
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

  /** When the current request arrived, in monotonic milliseconds, and the pending requests of the whole process. */
  get load(): { arrivedAt: number; pending: number } {
    const arrivedAt = this.#pending.first?.arrivedAt ?? this.#registry.monotonicMs()
    return { arrivedAt, pending: countPending(this.#registry) }
  }

  get hasOnlyRequest(): boolean {
    return countPending(this.#registry) === 1
  }

  /** Milliseconds since the last read or response; 0 while a request is pending. */
  get idleTime(): number {
    return this.#pending.length > 0 || this.#unparsed !== null ? 0 : this.#registry.monotonicMs() - this.#lastActiveAt
  }

  /** Adds a request that node:http has parsed. */
  add(request: IncomingMessage, response: ServerResponse): void {
    const { handle } = this.#registry
    const pending = new ParsedRequest(this, this.#startingArrival ?? this.#arrived(), { request, response, handle })
    response.once('close', () => this.onResponded(pending))
    this.#addPending(pending)
  }

  #addPending(pending: PendingRequest): void {
    this.#pending.push(pending)
    if (this.#pending.length === 1 && this.#startingArrival === null) this.#registry.enqueue(pending, false)
  }

  /** Parses the unparsed bytes when the connection's turn in the queue has come, and starts the first request. */
  #read(): void {
    this.#startingArrival = this.#queuedArrival
    this.#dequeue()
    this.#parseNext()
    this.#startingArrival = null
    const { first } = this.#pending
    if (first === undefined) return
    if (this.#hasEnded) this.#onEnd()
    if (!this.socket.destroyed && !first.isAborted) first.start()
  }

  /** Counts a response that is sent while the server drains. Returns whether it must be the last one. */
  isFinalResponse(): boolean {
    return (
      (this.#pending.length <= 1 && this.#unparsed === null) || ++this.#drainResponses > MAX_RESPONSES_WHILE_DRAINING
    )
  }

  /** Answers the pending requests, then sends the given response to an unreadable request, and closes. */
  rejectWith(bytes: string): void {
    this.#finalBytes = bytes
    this.#discardUnparsed()
    this.#pending.removePartial()
    if (this.#pending.length === 0) this.close()
  }

  /** Closes after the responses before a request that is incomplete, unless its rest is among the unparsed bytes. */
  abandonPartialRequest(): void {
    if (this.#unparsed !== null) return
    this.#pending.removePartial()
    if (this.#pending.length === 0) this.socket.destroy()
    else this.#finalBytes ??= ''
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
    if (this.#queuedArrival === null && this.#pending.length === 0 && this.#registry.isQueueFull()) this.#enqueue()
    this.#parseNext()
  }

  #enqueue(): void {
    this.#queuedArrival = this.#arrived()
    this.#registry.unparsedConnections++
    this.#registry.enqueue({ connection: this, start: () => this.#read() }, false)
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
      if (this.#takeDirectly(bytes)) continue
      const { isOpen } = this.#directPath
      const length = isOpen ? bytes.length : parseChunkBytes(this.#registry.pipelinedRequests)
      this.#setUnparsed(bytes.length > length ? bytes.subarray(length) : null)
      this.#parse(bytes.length > length ? bytes.subarray(0, length) : bytes)
    }
    this.#isParsing = false
    if (this.#unparsed === null) {
      this.#resume()
      if (this.#hasEnded && this.#pending.length === 0 && !this.#isClosing) this.#end()
    } else if (this.#queuedArrival !== null && this.#unparsed.length <= PARSE_CHUNK_BYTES) return
    else if (this.#registry.unparsedBytes > MAX_UNPARSED_BYTES) this.socket.destroy()
    else {
      this.#isPaused = true
      this.socket.pause()
    }
  }

  /** Adds the query in the bytes if the direct path takes it. Returns false if node:http must parse the bytes. */
  #takeDirectly(bytes: Buffer): boolean {
    const query = this.#directPath.recognize(bytes, this.#pending.length)
    if (query === null) return false
    this.#setUnparsed(null)
    this.#addPending(query.open(this, this.#startingArrival ?? this.#arrived()))
    return true
  }

  #mayParse(): boolean {
    const { destroyed, writableNeedDrain } = this.socket
    if (this.#isClosing || this.#finalBytes !== null || destroyed || writableNeedDrain) return false
    if (this.#queuedArrival !== null || this.#pending.first?.isParsedByNode === false) return false
    if (this.#pending.last?.isComplete === false) return true // its body: its handler may wait for it
    return this.#pending.length < maxPipelinedRequests(this.#registry.pipelinedRequests)
  }

  /** The client has ended its side. With several requests it may still read. Otherwise it counts as disconnected. */
  #onEnd(): void {
    this.#hasEnded = true
    if (this.#pending.length <= 1 && this.#unparsed === null && !this.#isClosing) this.#end()
  }

  /** Continues after the response to the current request. */
  onResponded(responded: PendingRequest): void {
    if (this.#pending.first !== responded) return
    this.#pending.removeFirst()
    this.#lastActiveAt = this.#registry.monotonicMs()
    const { first: next } = this.#pending
    if (this.#isClosing) return
    if (next !== undefined) this.#registry.enqueue(next, true)
    else if (this.#finalBytes !== null) this.close()
    this.#parseNext()
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
    this.#pending.abortAll()
    this.#registry.open.delete(this)
  }
}

/** The limits, in milliseconds and bytes, of reading after the last response. */
const LINGER_MS = 2_000
const LINGER_BYTES = 2 ** 20

/**
 * Closes a connection after its last response without a reset that would destroy it (RFC 9112, section 9.6): waits until
 * the client closes its side, and drops what it sends until then.
 */
function lingerThenClose(socket: Socket, hasEnded: boolean): void {
  if (hasEnded) return void socket.destroy()
  const timer = setTimeout(() => socket.destroy(), LINGER_MS).unref()
  socket.once('end', () => socket.destroy()).once('close', () => clearTimeout(timer))
  let dropped = 0
  socket.on('data', (bytes) => {
    dropped += bytes.length
    if (dropped > LINGER_BYTES) socket.destroy()
  })
}

/** Removes the only listener that node:http has added for an event of a socket, and returns it. */
function takeListener<Argument extends unknown[]>(socket: Socket, event: string): (...args: Argument) => void {
  const [listener, ...others] = socket.listeners(event).filter(({ name }) => name !== 'onReadableStreamEnd')
  if (listener === undefined || others.length > 0)
    throw new Error(`unexpected listeners of node:http for the event ${event}`)
  socket.removeListener(event, listener as () => void)
  return (...args) => void Reflect.apply(listener, socket, args)
}
