/** The admin listener of a continuous crawl: its metrics and its readiness. */

import { createServer, type Server } from 'node:http'
import { Registry } from 'prom-client'
import { CommandFault } from '../../config/command-fault.ts'
import type { ListenAddress } from '../../config/parse.ts'
import { SETTINGS, type Settings } from '../../config/settings.ts'
import { bracketedHost, listenFault } from '../listen-fault.ts'
import { createAdminServer, type ListeningServer, listen } from '../metrics/admin-listener.ts'

const TEXT_HEADERS = { 'Content-Type': 'text/plain; charset=utf-8' }
const ADMIN_SETTING = SETTINGS.crawlAdmin.name

type CrawlAdmin = {
  /** The actual port. Null without a listener. */
  port: number | null
  close(): void
}

/** Opens the listener, or none if `listener` is null. Throws CommandFault if the address is unavailable. */
export async function openCrawlAdmin(
  listener: ListenAddress | null,
  read: () => Promise<string>,
  notReadyReason: () => string | null,
): Promise<CrawlAdmin> {
  if (listener === null) return { port: null, close() {} }
  const server = createAdminServer((request, response) => {
    if (request.url === '/metrics') {
      read().then(
        (text) => response.writeHead(200, { 'Content-Type': Registry.PROMETHEUS_CONTENT_TYPE }).end(text),
        ({ message }: Error) => response.writeHead(500, TEXT_HEADERS).end(`${message}\n`),
      )
    } else if (request.url === '/readyz') {
      const reason = notReadyReason()
      response.writeHead(reason === null ? 200 : 503, TEXT_HEADERS).end(`${reason ?? 'ready'}\n`)
    } else response.writeHead(404, TEXT_HEADERS).end('/metrics, /readyz\n')
  })
  const { port } = await listenForCrawlAdmin(server, listener)
  const close = (): void => {
    server.closeAllConnections()
    server.close()
  }
  return { port, close }
}

/** Throws CommandFault if the address is unavailable now. */
export async function checkCrawlAdminPort(listener: ListenAddress | null): Promise<void> {
  if (listener === null) return
  const { server } = await listenForCrawlAdmin(createServer(), listener)
  await new Promise((resolve) => server.close(resolve))
}

/** Throws CommandFault if another listener of the same server uses the same address. */
export function requireDistinctListeners({ crawlAdmin, admin, host, port }: Settings): void {
  if (crawlAdmin === null || crawlAdmin.port === 0) return
  const others = [
    { setting: SETTINGS.admin.name, listener: admin },
    { setting: SETTINGS.port.name, listener: { host, port } },
  ]
  for (const { setting, listener } of others) {
    if (listener?.host !== crawlAdmin.host || listener.port !== crawlAdmin.port) continue
    const both = `${bracketedHost(listener.host)}:${listener.port}`
    throw new CommandFault(`${ADMIN_SETTING} and ${setting} are both ${both}: change the port of one of them`)
  }
}

function listenForCrawlAdmin(server: Server, listener: ListenAddress): Promise<ListeningServer> {
  return listen(server, listener).catch((error) => {
    throw listenFault(error, listener, { host: ADMIN_SETTING, port: ADMIN_SETTING })
  })
}
