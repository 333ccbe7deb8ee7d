/** The end of a server without a lost request: no more connections, then no more requests, then none at all. */

import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'

type Server = FastifyInstance['server']

/** Milliseconds for which idle connections stay open, so that a request already on its way is answered. */
const GRACE = 1_000
/** Milliseconds after which connections are closed under their answers. */
const PATIENCE = 20_000
/** Milliseconds between two looks at what is still open. */
const LOOK = 25

/** Accepts no more connections; resolves when the last is closed. Those that are open stay, idle ones too. */
export function stopAccepting(server: Server): Promise<void> {
  // node:http closes idle connections together with the listener, and a request on its way to one of them would be lost
  server.closeIdleConnections = () => {}
  const closed = new Promise<void>((resolve) => server.close(() => resolve()))
  Reflect.deleteProperty(server, 'closeIdleConnections')
  return closed
}

/** Waits for answers and closes what is idle, in time; resolves when every connection is closed. */
export async function closeConnections(server: Server, closed: Promise<void>): Promise<void> {
  const ended = closed.then(() => true)
  let left = PATIENCE
  const isEnded = async (milliseconds: number): Promise<boolean> => {
    left -= milliseconds
    return Promise.race([ended, sleep(milliseconds, false)])
  }
  if (await isEnded(GRACE)) return
  do server.closeIdleConnections()
  while (!(await isEnded(LOOK)) && left > 0)
  server.closeAllConnections()
  await closed
}
