/** The admin listener of a crawl that goes on and on: its metrics, and whether it sees. */

import { createServer, type Server } from 'node:http'
import { Registry } from 'prom-client'
import { CommandFault } from '../../config/command-fault.ts'
import { type Listener, SETTINGS, type Settings } from '../../config/settings.ts'
import type { CrawlStats } from '../../crawler/status/stats.ts'
import { bracketedHost, listenFault } from '../listen-fault.ts'
import { createAdminServer, type ListeningServer, listen } from '../metrics/admin-listener.ts'

const TEXT_HEADERS = { 'Content-Type': 'text/plain; charset=utf-8' }
const { name: ADMIN_SETTING } = SETTINGS.crawlAdmin

export type CrawlAdmin = {
  /** The port that it got; null where there is none. */
  port: number | null
  close(): void
}

/** None where the place is null. Throws CommandFault where nobody can listen there. */
export async function openCrawlAdmin(
  listener: Listener | null,
  read: () => Promise<string>,
  stats: Pick<CrawlStats, 'notReadyReason'>,
): Promise<CrawlAdmin> {
  if (listener === null) return { port: null, close() {} }
  const server = createAdminServer((request, response) => {
    if (request.url === '/metrics') {
      read().then(
        (text) => response.writeHead(200, { 'Content-Type': Registry.PROMETHEUS_CONTENT_TYPE }).end(text),
        ({ message }: Error) => response.writeHead(500, TEXT_HEADERS).end(`${message}\n`),
      )
    } else if (request.url === '/readyz') {
      const { notReadyReason } = stats
      response.writeHead(notReadyReason === null ? 200 : 503, TEXT_HEADERS).end(`${notReadyReason ?? 'ready'}\n`)
    } else response.writeHead(404, TEXT_HEADERS).end('/metrics, /readyz\n')
  })
  const { port } = await listenForCrawlAdmin(server, listener)
  const close = (): void => {
    server.closeAllConnections()
    server.close()
  }
  return { port, close }
}

/** Throws CommandFault where nobody can listen there now. */
export async function checkCrawlAdminPort(place: Listener | null): Promise<void> {
  if (place === null) return
  const { server } = await listenForCrawlAdmin(createServer(), place)
  await new Promise((resolve) => server.close(resolve))
}

/** Throws CommandFault where another listener of the same server has that place. */
export function requireDistinctListeners({ crawlAdmin, admin, host, port }: Settings): void {
  if (crawlAdmin === null || crawlAdmin.port === 0) return
  const others = [
    { setting: SETTINGS.admin.name, place: admin },
    { setting: SETTINGS.port.name, place: { host, port } },
  ]
  for (const { setting, place: listener } of others) {
    if (listener?.host !== crawlAdmin.host || listener.port !== crawlAdmin.port) continue
    const both = `${bracketedHost(listener.host)}:${listener.port}`
    throw new CommandFault(`${ADMIN_SETTING} and ${setting} both name ${both}: name another port with one of them`)
  }
}

function listenForCrawlAdmin(server: Server, place: Listener): Promise<ListeningServer> {
  return listen(server, place).catch((error) => {
    throw listenFault(error, place, { host: ADMIN_SETTING, port: ADMIN_SETTING })
  })
}
