/** The admin listener of a crawl that goes on and on: its metrics, and whether it sees. */

import { createServer } from 'node:http'
import { Registry } from 'prom-client'
import { type Listener, SETTINGS } from '../../config.ts'
import type { Figures } from '../../schedule/figures.ts'
import { listen } from '../serve/admin.ts'
import { faultOf } from '../serve/place.ts'

const TEXT = { 'Content-Type': 'text/plain; charset=utf-8' }
const { name } = SETTINGS.crawlAdmin

export type Admin = {
  /** The port that it got; null where there is none. */
  port: number | null
  close(): void
}

/** None where the place is null. Throws CommandFault where nobody can listen there. */
export async function openCrawlAdmin(
  place: Listener | null,
  read: () => Promise<string>,
  figures: Pick<Figures, 'trouble'>,
): Promise<Admin> {
  if (place === null) return { port: null, close() {} }
  const server = createServer((request, response) => {
    if (request.url === '/metrics') {
      read().then(
        (text) => response.writeHead(200, { 'Content-Type': Registry.PROMETHEUS_CONTENT_TYPE }).end(text),
        ({ message }: Error) => response.writeHead(500, TEXT).end(`${message}\n`),
      )
    } else if (request.url === '/readyz') {
      const { trouble } = figures
      response.writeHead(trouble === null ? 200 : 503, TEXT).end(`${trouble ?? 'ready'}\n`)
    } else response.writeHead(404, TEXT).end('/metrics, /readyz\n')
  })
  const { port } = await listen(server, place).catch((error) => {
    throw faultOf(error, place, { host: name, port: name })
  })
  const close = (): void => {
    server.closeAllConnections()
    server.close()
  }
  return { port, close }
}
