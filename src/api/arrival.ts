/** What waits for its turn, and what the connections of one process share. */

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** A connection, for those who give it its turn or close it. `idleTime`: milliseconds. `read`: its turn, if it was lined up unread. */
export type Open = { readonly socket: Socket; readonly idleTime: number; read(): void; close(): void }

/** A parsed request. `at`: milliseconds of the process's clock when its bytes were there to be read, as far as that is known. */
export type Arrival = { connection: Open; request: IncomingMessage; response: ServerResponse; at: number }

/** What has come over a connection and is not parsed yet, of which the first request is next. */
export type Unread = { connection: Open; request: null }

/** What the connections of one process share. */
export type Connections = {
  readonly open: Set<Open>
  /** Takes the next request of a connection; `isBehind`: it was sent before the one before it was answered. */
  readonly enter: (next: Arrival | Unread, isBehind: boolean) => void
  readonly begin: (arrival: Arrival) => void
  /** Requests that wait to be begun. */
  readonly lineLength: () => number
  /** Milliseconds of a clock that is never set; `arrived` is that of bytes which are read now. */
  readonly ticks: () => number
  readonly arrived: () => number
  heldBytes: number
  /** Requests that are parsed and not answered, and those of them that are not the first of their connection. */
  waiting: number
  behind: number
  /** Connections that are lined up with what is not parsed yet. */
  unread: number
}
