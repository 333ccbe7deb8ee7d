/** The refuser: tells the clients of connections that nobody can take so, where that is possible quickly, and closes them. */

import { randomBytes } from 'node:crypto'
import type { Socket } from 'node:net'
import { envelopeOfPath, overloaded } from '../../api/errors.ts'

/** Connections that are being refused at once; further ones are closed without a word. */
const AT_ONCE = 4_096
/** Milliseconds until a refused connection is closed, whatever its client does. */
const PATIENCE = 1_000

export class Refuser {
  readonly #refusing = new Set<Socket>()

  /** Answers the first request of a connection that is not read yet with 500 and Retry-After, in its endpoint's place. */
  refuse(socket: Socket): void {
    if (this.#refusing.size >= AT_ONCE) return void socket.destroy()
    this.#refusing.add(socket)
    // what came while this process was busy is read first: to close a connection with something unread resets it
    const timer = setTimeout(() => setImmediate(() => setImmediate(() => socket.destroy())), PATIENCE)
    socket.once('close', () => {
      clearTimeout(timer)
      this.#refusing.delete(socket)
    })
    socket.once('data', (bytes) => socket.end(answerTo(bytes.toString('latin1', 0, 200))))
    socket.resume() // what follows is read and dropped, so that no reset destroys the answer
  }

  /** Resolves when all of them are closed: within PATIENCE, because a reset would destroy what they are told. */
  async ended(): Promise<void> {
    await Promise.all(
      [...this.#refusing].map((socket) => new Promise<void>((resolve) => socket.once('close', () => resolve()))),
    )
  }
}

function answerTo(head: string): string {
  const [method, path = '/'] = head.split(' ', 2)
  const refusal = overloaded(
    'The server, or this address, has more connections than it may have: try again in a second.',
  )
  const body = refusal.body(envelopeOfPath(path))
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
