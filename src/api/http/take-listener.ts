/** Takes over the listeners that node:http adds to a socket. */

import type { Socket } from 'node:net'

/** Removes the only listener of node:http for an event of a socket, and returns it. */
export function takeListener<Argument extends unknown[]>(socket: Socket, event: string): (...args: Argument) => void {
  const [listener, ...others] = socket.listeners(event).filter(({ name }) => name !== 'onReadableStreamEnd')
  if (listener === undefined || others.length > 0)
    throw new Error(`unexpected listeners of node:http for the event ${event}`)
  socket.removeListener(event, listener as () => void)
  return (...args) => void Reflect.apply(listener, socket, args)
}
