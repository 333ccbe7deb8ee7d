/** What waits for its turn, and what the connections of one process share. */

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** A connection, for those who give it its turn or close it. `idleTime`: milliseconds. `read`: its turn, if it was lined up unread. */
export type OpenConnection = { readonly socket: Socket; readonly idleTime: number; read(): void; close(): void }

/** A parsed request. `at`: milliseconds of the process's clock when its bytes were there to be read, as far as that is known. */
export type PendingRequest = {
  connection: OpenConnection
  request: IncomingMessage
  response: ServerResponse
  arrivedAt: number
}

/** What has come over a connection and is not parsed yet, of which the first request is next. */
export type UnparsedConnection = { connection: OpenConnection; request: null }

/** What the connections of one process share. */
export type ConnectionRegistry = {
  readonly open: Set<OpenConnection>
  /** Takes the next request of a connection; `isBehind`: it was sent before the one before it was answered. */
  readonly enqueue: (next: PendingRequest | UnparsedConnection, isBehind: boolean) => void
  readonly start: (arrival: PendingRequest) => void
  /** Requests that wait to be begun. */
  readonly queueLength: () => number
  /** Milliseconds of a clock that is never set; `arrived` is that of bytes which are read now. */
  readonly monotonicMs: () => number
  readonly earliestArrival: () => number
  unparsedBytes: number
  /** Requests that are parsed and not answered, and those of them that are not the first of their connection. */
  pendingRequests: number
  pipelinedRequests: number
  /** Connections that are lined up with what is not parsed yet. */
  unparsedConnections: number
}
