/** Rejects connections above a limit: answers their first request with an error, and closes them. */

import { randomBytes } from 'node:crypto'
import type { Socket } from 'node:net'
import { envelopeOfPath, overloadedError } from '../../api/errors.ts'

/** The maximum number of connections that are rejected at once. Further ones are closed without a response. */
const MAX_REJECTING_CONNECTIONS = 4_096
/** Milliseconds after which a rejected connection is closed in any case. */
const REJECT_TIMEOUT_MS = 1_000

export class ConnectionRejecter {
  readonly #rejecting = new Set<Socket>()

  /** Answers the first request of an unread connection with 500 and Retry-After, in the envelope of its endpoint. */
  reject(socket: Socket): void {
    if (this.#rejecting.size >= MAX_REJECTING_CONNECTIONS) return void socket.destroy()
    this.#rejecting.add(socket)
    // read what arrived while this process was busy: closing a connection with unread data resets it
    const timer = setTimeout(() => setImmediate(() => setImmediate(() => socket.destroy())), REJECT_TIMEOUT_MS)
    socket.once('close', () => {
      clearTimeout(timer)
      this.#rejecting.delete(socket)
    })
    socket.once('data', (bytes) => socket.end(rejectionResponse(bytes.toString('latin1', 0, 200))))
    socket.resume() // read and drop the rest, so that no reset destroys the response
  }

  /** Resolves within REJECT_TIMEOUT_MS, when all connections are closed. A reset would destroy their responses. */
  async ended(): Promise<void> {
    await Promise.all(
      [...this.#rejecting].map((socket) => new Promise<void>((resolve) => socket.once('close', () => resolve()))),
    )
  }
}

function rejectionResponse(head: string): string {
  const [method, path = '/'] = head.split(' ', 2)
  const apiError = overloadedError(
    'The server has reached its limit of connections, in total or for this address: try again in a second.',
  )
  const body = apiError.body(envelopeOfPath(path))
  return [
    'HTTP/1.1 500 Internal Server Error',
    `Request-Id: ${randomBytes(9).toString('base64url')}`,
    'Content-Type: application/json; charset=utf-8',
    'Cache-Control: private, no-store',
    'Retry-After: 1',
    'Connection: close',
    `Content-Length: ${Buffer.byteLength(body)}`,
    '',
    method === 'HEAD' ? '' : body,
  ].join('\r\n')
}
