/** Closes a connection after its last response without a reset that would destroy it (RFC 9112, section 9.6). */

import type { Socket } from 'node:net'

/** The limits, in milliseconds and bytes, of reading after the last response. */
const LINGER_MS = 2_000
const LINGER_BYTES = 2 ** 20

/** Waits until the client closes its side, and drops what it sends until then. */
export function lingerThenClose(socket: Socket, hasEnded: boolean): void {
  if (hasEnded) return void socket.destroy()
  const timer = setTimeout(() => socket.destroy(), LINGER_MS).unref()
  socket.once('end', () => socket.destroy()).once('close', () => clearTimeout(timer))
  let dropped = 0
  socket.on('data', (bytes) => {
    dropped += bytes.length
    if (dropped > LINGER_BYTES) socket.destroy()
  })
}
