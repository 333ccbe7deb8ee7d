/** The primary of `serve`: the ledger's pen, the admin listener and the workers, from the start to an end in order. */

import type { Server } from 'node:http'
import type { Logger } from 'pino'
import type { Settings } from '../../config.ts'
import { openShelfFolder } from '../../nightly/shelf-folder.ts'
import { openStore } from '../../store/open.ts'
import type { Store } from '../../store/store.ts'
import { tryCrawlAdmin } from '../crawl/admin.ts'
import { limitsOf } from '../plans.ts'
import { Acceptor } from './acceptor.ts'
import { metricsOf, openAdmin } from './admin.ts'
import { type Beside, startBeside } from './beside.ts'
import { Crew } from './crew.ts'
import { type Log, openLog } from './log.ts'
import type { CrawlCommand, CrawlOrder, IndexCommand, NightCommand, Order } from './messages.ts'
import { bracketed, faultOf } from './place.ts'

/** `address`: where requests are answered. `ended` resolves when a signal has ended all of it. */
export type Running = { address: string; ended: Promise<void> }

/** `crawl`: what is crawled with, beside; null: nothing is. `names`: what says where requests are answered, for messages. */
export type ServerOptions = { demo: boolean; crawl?: Omit<CrawlOrder, 'settings'> | null; names?: typeof PUBLIC }

/** The settings that say where to listen. */
const ADMIN = { host: 'DOMAINDEX_ADMIN', port: 'DOMAINDEX_ADMIN' }
const PUBLIC = { host: 'DOMAINDEX_HOST', port: 'DOMAINDEX_PORT' }

/** Connections of this process to a store that has any: it answers nobody. */
const POOL = 2

/** What is to be ended, in this order. */
type Parts = { acceptor: Acceptor; crew: Crew; beside: Beside[]; admin: Server | null; store: Store; output: Log }

/** Starts the server; resolves when it answers. Throws CommandFault, and StoreFault for a store that cannot be opened. */
export async function startServer(settings: Settings, options: ServerOptions): Promise<Running> {
  const { demo, crawl = null, names = PUBLIC } = options
  const { store: url, secret } = settings
  const limits = limitsOf(settings)
  const store = await openStore(url, { access: 'read', ledger: 'thread', secret, pool: POOL, demo })
  const output = openLog(settings.logLevel)
  const acceptor = new Acceptor(settings)
  const parts: Parts = { acceptor, crew: new Crew(output.log, acceptor), beside: [], admin: null, store, output }
  try {
    await store.ledger.secrets(await store.now()) // refuses a secret that is not the installation's, before anybody serves
    parts.admin = await startAdmin(settings, parts)
    const port = await startCrew({ settings, limits, demo }, names, parts)
    if (crawl) await tryCrawlAdmin(settings.crawlAdmin)
    parts.beside = startAll({ ...settings, port }, crawl, output.log)
    const ended = asked().then(() => end(parts))
    return { address: `http://${bracketed(settings.host)}:${port}`, ended }
  } catch (error) {
    await end(parts)
    throw error
  }
}

/** The crawl, the night and the index, where they are wanted. */
function startAll(settings: Settings, crawl: ServerOptions['crawl'], log: Logger): Beside[] {
  const started: Beside[] = []
  if (crawl) {
    const begin: CrawlCommand = { to: 'crawler', do: 'crawl', order: { ...crawl, settings } }
    const program = { name: 'crawler', file: new URL('./crawler.ts', import.meta.url), begin }
    started.push(startBeside<CrawlCommand>({ ...program, stop: { to: 'crawler', do: 'stop' } }, log))
  }
  if (settings.night !== null) {
    const begin: NightCommand = { to: 'night', do: 'watch', order: { settings } }
    const program = { name: 'night watch', file: new URL('./night.ts', import.meta.url), begin }
    started.push(startBeside<NightCommand>({ ...program, stop: { to: 'night', do: 'stop' } }, log))
  }
  if (settings.index) {
    const begin: IndexCommand = { to: 'indexer', do: 'keep', order: { settings } }
    const program = { name: 'indexer', file: new URL('./indexer.ts', import.meta.url), begin }
    started.push(startBeside<IndexCommand>({ ...program, stop: { to: 'indexer', do: 'stop' } }, log))
  }
  return started
}

/** Null where the settings want none. */
async function startAdmin(
  { admin, files }: Settings,
  { store, crew, acceptor, output }: Parts,
): Promise<Server | null> {
  if (admin === null) return null
  try {
    const { server, port } = await openAdmin(admin, metricsOf(store, openShelfFolder(files), crew, acceptor))
    output.log.info({ host: admin.host, port }, 'the admin listener is up')
    return server
  } catch (error) {
    throw faultOf(error as NodeJS.ErrnoException, admin, ADMIN)
  }
}

/** Starts the workers, then listens; returns the port. */
async function startCrew(order: Order, names: typeof PUBLIC, { crew, acceptor }: Parts): Promise<number> {
  const { host, port: wanted, workers } = order.settings
  try {
    await crew.start(order, workers)
    return await acceptor.listen(wanted)
  } catch (error) {
    throw faultOf(error as NodeJS.ErrnoException, { host, port: wanted }, names)
  }
}

/** Resolves when a signal asks for the end; a second one ends this process at once, and its workers with it. */
function asked(): Promise<void> {
  return new Promise((resolve) => {
    let isAsked = false
    const hear = (_signal: NodeJS.Signals, number: number): void => {
      if (isAsked) process.exit(128 + number)
      isAsked = true
      resolve()
    }
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, hear)
  })
}

async function end({ crew, beside, admin, store, output }: Parts): Promise<void> {
  await Promise.all([crew.end(), ...beside.map((each) => each.end())])
  admin?.closeAllConnections()
  admin?.close()
  await store.close()
  output.flush()
}
