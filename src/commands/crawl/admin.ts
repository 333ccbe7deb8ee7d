/** The admin listener of a crawl that goes on and on: its metrics, and whether it sees. */

import { createServer, type Server } from 'node:http'
import { Registry } from 'prom-client'
import { type Listener, SETTINGS, type Settings } from '../../config.ts'
import type { Figures } from '../../schedule/figures.ts'
import { CommandFault } from '../fault.ts'
import { adminServer, type Listening, listen } from '../serve/admin.ts'
import { bracketed, faultOf } from '../serve/place.ts'

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
  const server = adminServer((request, response) => {
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
  const { port } = await listenAt(server, place)
  const close = (): void => {
    server.closeAllConnections()
    server.close()
  }
  return { port, close }
}

/** Throws CommandFault where nobody can listen there now. */
export async function tryCrawlAdmin(place: Listener | null): Promise<void> {
  if (place === null) return
  const { server } = await listenAt(createServer(), place)
  await new Promise((resolve) => server.close(resolve))
}

/** Throws CommandFault where another listener of the same server has that place. */
export function expectOwnPlace({ crawlAdmin, admin, host, port }: Settings): void {
  if (crawlAdmin === null || crawlAdmin.port === 0) return
  const others = [
    { setting: SETTINGS.admin.name, place: admin },
    { setting: SETTINGS.port.name, place: { host, port } },
  ]
  for (const { setting, place } of others) {
    if (place?.host !== crawlAdmin.host || place.port !== crawlAdmin.port) continue
    const both = `${bracketed(place.host)}:${place.port}`
    throw new CommandFault(`${name} and ${setting} both name ${both}: name another port with one of them`)
  }
}

function listenAt(server: Server, place: Listener): Promise<Listening> {
  return listen(server, place).catch((error) => {
    throw faultOf(error, place, { host: name, port: name })
  })
}
