/** The end of a connection whose last answer is sent: it is read until the client closes too, so that no reset destroys that answer (RFC 9112, section 9.6). */

import type { Socket } from 'node:net'

/** Milliseconds and bytes for which it is still read. */
const LINGER_MS = 2_000
const LINGER_BYTES = 2 ** 20

/** Waits for the client's end, if it has not come yet. What it sends until then is read, and dropped. */
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
