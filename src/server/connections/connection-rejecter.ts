/** The refuser: tells the clients of connections that nobody can take so, where that is possible quickly, and closes them. */

import { randomBytes } from 'node:crypto'
import type { Socket } from 'node:net'
import { envelopeOfPath, overloadedError } from '../../api/errors.ts'

/** Connections that are being refused at once; further ones are closed without a word. */
const MAX_REJECTING_CONNECTIONS = 4_096
/** Milliseconds until a refused connection is closed, whatever its client does. */
const REJECT_TIMEOUT_MS = 1_000

export class ConnectionRejecter {
  readonly #rejecting = new Set<Socket>()

  /** Answers the first request of a connection that is not read yet with 500 and Retry-After, in its endpoint's place. */
  reject(socket: Socket): void {
    if (this.#rejecting.size >= MAX_REJECTING_CONNECTIONS) return void socket.destroy()
    this.#rejecting.add(socket)
    // what came while this process was busy is read first: to close a connection with something unread resets it
    const timer = setTimeout(() => setImmediate(() => setImmediate(() => socket.destroy())), REJECT_TIMEOUT_MS)
    socket.once('close', () => {
      clearTimeout(timer)
      this.#rejecting.delete(socket)
    })
    socket.once('data', (bytes) => socket.end(rejectionResponse(bytes.toString('latin1', 0, 200))))
    socket.resume() // what follows is read and dropped, so that no reset destroys the answer
  }

  /** Resolves when all of them are closed: within PATIENCE, because a reset would destroy what they are told. */
  async ended(): Promise<void> {
    await Promise.all(
      [...this.#rejecting].map((socket) => new Promise<void>((resolve) => socket.once('close', () => resolve()))),
    )
  }
}

function rejectionResponse(head: string): string {
  const [method, path = '/'] = head.split(' ', 2)
  const apiError = overloadedError(
    'The server, or this address, has more connections than it may have: try again in a second.',
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
