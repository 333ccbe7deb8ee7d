/** The listeners of a socket that node:http has put there, which a connection stands in front of. */

import type { Socket } from 'node:net'

/** Removes the one listener that node:http has for an event of a socket, and returns it. */
export function takeListener<Argument extends unknown[]>(socket: Socket, event: string): (...given: Argument) => void {
  const [listener, ...others] = socket.listeners(event).filter(({ name }) => name !== 'onReadableStreamEnd')
  if (listener === undefined || others.length > 0)
    throw new Error(`node:http listens to ${event} in a way that is not known`)
  socket.removeListener(event, listener as () => void)
  return (...given) => void Reflect.apply(listener, socket, given)
}
