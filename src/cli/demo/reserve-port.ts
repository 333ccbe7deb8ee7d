/** Reserves the port of the demo while it crawls the lab, so that no other process takes it. */

import { createServer } from 'node:http'
import type { ListenAddress } from '../../config/parse.ts'
import { listenFault } from '../../server/listen-fault.ts'
import { listen } from '../../server/metrics/admin-listener.ts'

/** A reserved port. It answers every request with 503 until it is released. */
export type ReservedPort = { port: number; release(): Promise<void> }

const MAX_PORT = 65_535

/** The names that messages use for host and port: the option --port sets the port of the demo. */
export function demoPortOptions(port: number): { host: string; port: string } {
  const other = port > 0 && port < MAX_PORT ? port + 1 : MAX_PORT - 1
  return { host: '--port', port: `--port, as in npm start -- --port ${other}` }
}

/** Binds the port; 0 binds any free port. Throws CommandFault if the port cannot be bound. */
export async function reservePort(requested: ListenAddress): Promise<ReservedPort> {
  const server = createServer((_request, response) => {
    response.writeHead(503, { 'Content-Type': 'text/plain', 'Retry-After': '5', Connection: 'close' })
    response.end('The demo is still crawling. It will answer here soon.\n')
  })
  try {
    const { port } = await listen(server, requested)
    const release = async (): Promise<void> => {
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeAllConnections()
      await closed
    }
    return { port, release }
  } catch (error) {
    throw listenFault(error as NodeJS.ErrnoException, requested, demoPortOptions(requested.port))
  }
}
