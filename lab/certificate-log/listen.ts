/** The HTTP servers of certificate logs: they never close a connection by themselves. */

import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'

/** `url`: ends with a slash. */
export type LogServer = { url: string; close(): Promise<void> }

/**
 * Listens on a free port of 127.0.0.1. Idle connections stay open: if the process was busy for long, Node would otherwise
 * close one that a client has just used again, and the client would get ECONNRESET.
 */
export async function listenAsLog(listener: RequestListener): Promise<LogServer> {
  const server = createServer({ keepAliveTimeout: 0 }, listener)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    close: async () => {
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeAllConnections()
      await closed
    },
  }
}
