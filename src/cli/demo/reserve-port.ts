/** Holds the port of the demo while its internet is crawled, so that nothing else takes it. */

import { createServer } from 'node:http'
import type { Listener } from '../../config/settings.ts'
import { listenFault } from '../../server/listen-fault.ts'
import { listen } from '../../server/metrics/admin-listener.ts'

/** A port that is held. Until it is released it answers every request 503. */
export type ReservedPort = { port: number; release(): Promise<void> }

const MAX_PORT = 65_535

/** How a message names the place: the demo listens where --port says. */
export function demoPortOptions(port: number): { host: string; port: string } {
  const other = port > 0 && port < MAX_PORT ? port + 1 : MAX_PORT - 1
  return { host: '--port', port: `--port, as in npm start -- --port ${other}` }
}

/** Binds the port; 0 binds any that is free. Throws CommandFault. */
export async function reservePort({ host, port: wanted }: Listener): Promise<ReservedPort> {
  const server = createServer((_request, response) => {
    response.writeHead(503, { 'Content-Type': 'text/plain', 'Retry-After': '5', Connection: 'close' })
    response.end('The demo is still crawling, and will answer here.\n')
  })
  try {
    const { port } = await listen(server, { host, port: wanted })
    const release = async (): Promise<void> => {
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeAllConnections()
      await closed
    }
    return { port, release }
  } catch (error) {
    throw listenFault(error as NodeJS.ErrnoException, { host, port: wanted }, demoPortOptions(wanted))
  }
}
