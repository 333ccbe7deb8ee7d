/** The types of pending requests, and the state that the connections of one process share. */

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** A connection. `idleTime`: milliseconds. `read` parses the bytes of a queued connection when its turn has come. */
export type OpenConnection = { readonly socket: Socket; readonly idleTime: number; read(): void; close(): void }

/** A parsed request. `arrivedAt`: the estimated arrival of its bytes, in monotonic milliseconds. */
export type PendingRequest = {
  connection: OpenConnection
  request: IncomingMessage
  response: ServerResponse
  arrivedAt: number
}

/** A connection with unparsed bytes, whose first request is next. */
export type UnparsedConnection = { connection: OpenConnection; request: null }

/** The state that the connections of one process share. */
export type ConnectionRegistry = {
  readonly open: Set<OpenConnection>
  /** Queues the next request of a connection. `isPipelined`: it was sent before the response to the previous one. */
  readonly enqueue: (next: PendingRequest | UnparsedConnection, isPipelined: boolean) => void
  readonly start: (arrival: PendingRequest) => void
  /** The number of requests that wait to be started. */
  readonly queueLength: () => number
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
