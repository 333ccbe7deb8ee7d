/** The primary of `serve`: the ledger's pen, the admin listener and the workers, from the start to an end in order. */

import type { Server } from 'node:http'
import type { Logger } from 'pino'
import { loadPlanLimits } from '../config/plan-limits.ts'
import type { Settings } from '../config/settings.ts'
import { openFolderFileStore } from '../jobs/file-store/folder.ts'
import { openStore } from '../store/open.ts'
import type { Store } from '../store/port/store.ts'
import { Acceptor } from './connections/acceptor.ts'
import { checkCrawlAdminPort } from './crawl/admin.ts'
import { bracketedHost, listenFault } from './listen-fault.ts'
import { type OpenedLog, openLog } from './log.ts'
import { openAdminListener, serverMetrics } from './metrics/admin-listener.ts'
import { type SupervisedChild, superviseChild } from './processes/child-supervisor.ts'
import type { CrawlCommand, CrawlOrder, IndexCommand, JobsCommand, WorkerOrder } from './processes/messages.ts'
import { WorkerPool } from './processes/worker-pool.ts'

/** `address`: where requests are answered. `ended` resolves when a signal has ended all of it. */
export type RunningServer = { address: string; ended: Promise<void> }

/** `crawl`: what is crawled with, beside; null: nothing is. `names`: what says where requests are answered, for messages. */
export type ServeOptions = {
  demo: boolean
  crawl?: Omit<CrawlOrder, 'settings'> | null
  settingNames?: typeof PUBLIC_SETTING_NAMES
}

/** The settings that say where to listen. */
const ADMIN_SETTING_NAMES = { host: 'DOMAINDEX_ADMIN', port: 'DOMAINDEX_ADMIN' }
const PUBLIC_SETTING_NAMES = { host: 'DOMAINDEX_HOST', port: 'DOMAINDEX_PORT' }

/** Connections of this process to a store that has any: it answers nobody. */
const PRIMARY_POOL_SIZE = 2

/** What is to be ended, in this order. */
type ServerParts = {
  acceptor: Acceptor
  workerPool: WorkerPool
  children: SupervisedChild[]
  admin: Server | null
  store: Store
  logOutput: OpenedLog
}

/** Starts the server; resolves when it answers. Throws CommandFault, and StoreFault for a store that cannot be opened. */
export async function startServer(settings: Settings, options: ServeOptions): Promise<RunningServer> {
  const { demo, crawl = null, settingNames: names = PUBLIC_SETTING_NAMES } = options
  const { store: url, secret } = settings
  const limits = loadPlanLimits(settings)
  const store = await openStore(url, { access: 'read', ledger: 'thread', secret, pool: PRIMARY_POOL_SIZE, demo })
  const output = openLog(settings.logLevel)
  const acceptor = new Acceptor(settings)
  const parts: ServerParts = {
    acceptor,
    workerPool: new WorkerPool(output.log, acceptor),
    children: [],
    admin: null,
    store,
    logOutput: output,
  }
  try {
    await store.ledger.secrets(await store.now()) // refuses a secret that is not the installation's, before anybody serves
    parts.admin = await startAdmin(settings, parts)
    const port = await startWorkers({ settings, limits, demo }, names, parts)
    if (crawl) await checkCrawlAdminPort(settings.crawlAdmin)
    parts.children = startChildren({ ...settings, port }, crawl, output.log)
    const ended = stopRequested().then(() => stopServer(parts))
    return { address: `http://${bracketedHost(settings.host)}:${port}`, ended }
  } catch (error) {
    await stopServer(parts)
    throw error
  }
}

/** The crawl, the night and the index, where they are wanted. */
function startChildren(settings: Settings, crawl: ServeOptions['crawl'], log: Logger): SupervisedChild[] {
  const started: SupervisedChild[] = []
  if (crawl) {
    const startCommand: CrawlCommand = { to: 'crawler', do: 'run', order: { ...crawl, settings } }
    const program = { name: 'crawler', file: new URL('./processes/crawler-process.ts', import.meta.url), startCommand }
    started.push(superviseChild<CrawlCommand>({ ...program, stopCommand: { to: 'crawler', do: 'stop' } }, log))
  }
  if (settings.jobTimes !== null) {
    const startCommand: JobsCommand = { to: 'jobs', do: 'run', order: { settings } }
    const program = { name: 'jobs', file: new URL('./processes/jobs-process.ts', import.meta.url), startCommand }
    started.push(superviseChild<JobsCommand>({ ...program, stopCommand: { to: 'jobs', do: 'stop' } }, log))
  }
  if (settings.index) {
    const startCommand: IndexCommand = { to: 'indexer', do: 'run', order: { settings } }
    const program = { name: 'indexer', file: new URL('./processes/indexer-process.ts', import.meta.url), startCommand }
    started.push(superviseChild<IndexCommand>({ ...program, stopCommand: { to: 'indexer', do: 'stop' } }, log))
  }
  return started
}

/** Null where the settings want none. */
async function startAdmin(
  { admin, files }: Settings,
  { store, workerPool, acceptor, logOutput: output }: ServerParts,
): Promise<Server | null> {
  if (admin === null) return null
  try {
    const { server, port } = await openAdminListener(
      admin,
      serverMetrics(store, openFolderFileStore(files), workerPool, acceptor),
    )
    output.log.info({ host: admin.host, port }, 'admin listener started')
    return server
  } catch (error) {
    throw listenFault(error as NodeJS.ErrnoException, admin, ADMIN_SETTING_NAMES)
  }
}

/** Starts the workers, then listens; returns the port. */
async function startWorkers(
  order: WorkerOrder,
  names: typeof PUBLIC_SETTING_NAMES,
  { workerPool, acceptor }: ServerParts,
): Promise<number> {
  const { host, port: wanted, workers } = order.settings
  try {
    await workerPool.start(order, workers)
    return await acceptor.listen(wanted)
  } catch (error) {
    throw listenFault(error as NodeJS.ErrnoException, { host, port: wanted }, names)
  }
}

/** Resolves when a signal asks for the end; a second one ends this process at once, and its workers with it. */
function stopRequested(): Promise<void> {
  return new Promise((resolve) => {
    let isStopRequested = false
    const hear = (_signal: NodeJS.Signals, number: number): void => {
      if (isStopRequested) process.exit(128 + number)
      isStopRequested = true
      resolve()
    }
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, hear)
  })
}

async function stopServer({ workerPool, children, admin, store, logOutput: output }: ServerParts): Promise<void> {
  await Promise.all([workerPool.stop(), ...children.map((each) => each.stop())])
  admin?.closeAllConnections()
  admin?.close()
  await store.close()
  output.flush()
}
