/** Pending requests, the state that the connections of one process share, and the limits of what they may hold. */

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** A connection. `idleTime`: milliseconds. */
export type OpenConnection = { readonly socket: Socket; readonly idleTime: number; close(): void }

/** A parsed request. `arrivedAt`: the estimated arrival of its bytes, in monotonic milliseconds. */
export type PendingRequest = {
  readonly connection: OpenConnection
  readonly arrivedAt: number
  /** Whether its whole body has arrived. */
  readonly isComplete: boolean
  /** Whether it may be dropped: it is incomplete, and its response has not started. */
  readonly isDroppable: boolean
  /** Whether the client has disconnected. */
  readonly isAborted: boolean
  /** Whether node:http has parsed it, and so knows which response is next on the connection. */
  readonly isParsedByNode: boolean
  start(): void
  /** Called when the connection closes before the response has ended. */
  abort(): void
}

/** A request that node:http has parsed. */
export class ParsedRequest implements PendingRequest {
  readonly connection: OpenConnection
  readonly arrivedAt: number
  readonly isParsedByNode = true
  readonly #request: IncomingMessage
  readonly #response: ServerResponse
  readonly #handle: ConnectionRegistry['handle']

  constructor(
    connection: OpenConnection,
    arrivedAt: number,
    {
      request,
      response,
      handle,
    }: { request: IncomingMessage; response: ServerResponse } & Pick<ConnectionRegistry, 'handle'>,
  ) {
    this.connection = connection
    this.arrivedAt = arrivedAt
    this.#request = request
    this.#response = response
    this.#handle = handle
  }

  get isComplete(): boolean {
    return this.#request.complete
  }

  get isDroppable(): boolean {
    return !this.isComplete && !this.#response.headersSent
  }

  get isAborted(): boolean {
    return this.#request.destroyed
  }

  start(): void {
    this.#handle(this.#request, this.#response)
  }

  /** node:http itself closes the response. */
  abort(): void {}
}

/** The connection of a request that node:http has not parsed. */
export type DirectConnection = OpenConnection & {
  /** Whether this connection has the only pending request of the process. */
  readonly hasOnlyRequest: boolean
  onResponded(responded: PendingRequest): void
}

/** A query that can be answered without node:http. `open` makes it a pending request. */
export type RecognizedQuery = { open(connection: DirectConnection, arrivedAt: number): PendingRequest }

/** Recognizes queries. Returns null if the bytes are anything but one plain query to a known path. */
export type QueryRecognizer = { recognize(bytes: Buffer): RecognizedQuery | null }

/** A connection with unparsed bytes, whose first request is next. */
export type UnparsedConnection = { readonly connection: OpenConnection; start(): void }

/** The state that the connections of one process share. */
export type ConnectionRegistry = {
  readonly open: Set<OpenConnection>
  /** Queues the next request of a connection. `isPipelined`: it was sent before the response to the previous one. */
  readonly enqueue: (next: PendingRequest | UnparsedConnection, isPipelined: boolean) => void
  /** Handles a request that node:http has parsed. */
  readonly handle: (request: IncomingMessage, response: ServerResponse) => void
  /** Answers plain queries without node:http; null: node:http parses every request. */
  readonly directPath: QueryRecognizer | null
  /** Whether so many requests wait to be started that bytes are parsed only at their turn. */
  readonly isQueueFull: () => boolean
  readonly monotonicMs: () => number
  /** The earliest arrival of the bytes that are read now, in monotonic milliseconds. */
  readonly earliestArrival: () => number
  unparsedBytes: number
  /** Parsed requests without a response. */
  pendingRequests: number
  /** Those of them that are not the first of their connection. */
  pipelinedRequests: number
  /** Connections that are queued with unparsed bytes. */
  unparsedConnections: number
}

/** The number of pending requests of a process. A connection with unparsed bytes counts as one. */
export function countPending({ pendingRequests, unparsedConnections }: ConnectionRegistry): number {
  return pendingRequests + unparsedConnections
}

/** The pending requests of one connection in order. It maintains the counts of all connections. */
export class PendingQueue {
  readonly #registry: ConnectionRegistry
  readonly #requests: PendingRequest[] = []

  constructor(registry: ConnectionRegistry) {
    this.#registry = registry
  }

  get length(): number {
    return this.#requests.length
  }

  get first(): PendingRequest | undefined {
    return this.#requests[0]
  }

  get last(): PendingRequest | undefined {
    return this.#requests.at(-1)
  }

  push(request: PendingRequest): void {
    this.#requests.push(request)
    this.#registry.pendingRequests++
    if (this.length > 1) this.#registry.pipelinedRequests++
  }

  removeFirst(): void {
    this.#requests.shift()
    this.#decrementCounts()
  }

  /** Removes the last request if it is incomplete, unless its response has started. */
  removePartial(): void {
    if (!this.last?.isDroppable) return
    this.#requests.pop()
    this.#decrementCounts()
  }

  /** Removes and aborts all requests. */
  abortAll(): void {
    this.#registry.pendingRequests -= this.length
    this.#registry.pipelinedRequests -= Math.max(0, this.length - 1)
    for (const request of this.#requests.splice(0)) request.abort()
  }

  #decrementCounts(): void {
    this.#registry.pendingRequests--
    if (this.length > 0) this.#registry.pipelinedRequests--
  }
}

/** The maximum number of parsed requests of a connection without a response. Above it, the socket is paused. */
export const MAX_PIPELINED_REQUESTS = 32
/** The number of bytes that are parsed at once. Only the requests in them may exceed MAX_PIPELINED_REQUESTS. */
export const PARSE_CHUNK_BYTES = 1_024
/** The maximum number of unparsed bytes of all connections. A connection that exceeds it is closed. */
export const MAX_UNPARSED_BYTES = 64 * 2 ** 20
/**
 * If all connections together have more pipelined requests, a connection is read only when it has no request, and fewer
 * bytes are parsed at once.
 */
const MAX_TOTAL_PIPELINED = 64
const CROWDED_PARSE_CHUNK_BYTES = 128
/** The maximum number of responses that a connection with further requests gets while the server drains. */
export const MAX_RESPONSES_WHILE_DRAINING = 256
/** If more requests wait to be started, bytes are parsed only at their turn, because parsed requests need memory. */
export const MAX_PARSED_PENDING = 64

/** The number of bytes that a connection parses at once, by the pipelined requests of the process. */
export function parseChunkBytes(pipelinedRequests: number): number {
  return pipelinedRequests < MAX_TOTAL_PIPELINED ? PARSE_CHUNK_BYTES : CROWDED_PARSE_CHUNK_BYTES
}

/** The maximum number of parsed requests of a connection, by the pipelined requests of the process. */
export function maxPipelinedRequests(pipelinedRequests: number): number {
  return pipelinedRequests < MAX_TOTAL_PIPELINED ? MAX_PIPELINED_REQUESTS : 1
}
