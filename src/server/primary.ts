/** The primary of `serve`: starts and stops the ledger writer, the admin listener, workers and child processes. */

import type { Server } from 'node:http'
import { preparePageBundle } from '../api/page/bundle.ts'
import { loadPlanLimits } from '../config/plan-limits.ts'
import type { Settings } from '../config/settings.ts'
import { mailSettings } from '../config/web.ts'
import { openFileStore } from '../jobs/file-store/open.ts'
import { openStore } from '../store/open.ts'
import type { Store } from '../store/port/store.ts'
import { Acceptor } from './connections/acceptor.ts'
import { checkCrawlAdminPort } from './crawl/admin.ts'
import { bracketedHost, listenFault } from './listen-fault.ts'
import { type OpenedLog, openLog } from './log.ts'
import { openAdminListener, serverMetrics } from './metrics/admin-listener.ts'
import { wrongPlaces } from './places/check.ts'
import { monitorPlaces, type PlaceMonitor } from './places/monitor.ts'
import { placesOf } from './places/place.ts'
import { startChildren } from './processes/child-supervisor.ts'
import type { CrawlOrder, WorkerOrder } from './processes/messages.ts'
import { WorkerPool } from './processes/worker-pool.ts'
import { listenForStopSignals } from './stop-signals.ts'

/** `address`: the URL of the API. `ended` resolves after a signal, when the server has stopped. */
type RunningServer = { address: string; ended: Promise<void>; store: Store }

/**
 * `crawl`: options of the crawler; null: no crawler. `hasCertificateLogs`: follows certificate logs. `settingNames`: the settings
 * of host and port, for messages.
 */
type ServeOptions = {
  demo: boolean
  /** Names to try, for the start page; none by default. */
  examples?: readonly string[]
  crawl?: Omit<CrawlOrder, 'settings'> | null
  hasCertificateLogs?: boolean
  settingNames?: typeof PUBLIC_SETTING_NAMES
}

/** The settings of the host and port of each listener, for messages. */
const ADMIN_SETTING_NAMES = { host: 'DOMAINDEX_ADMIN', port: 'DOMAINDEX_ADMIN' }
const PUBLIC_SETTING_NAMES = { host: 'DOMAINDEX_HOST', port: 'DOMAINDEX_PORT' }

/** PostgreSQL connections of the primary, which answers no requests. */
const PRIMARY_POOL_SIZE = 2

/** The parts of a server, in the order in which they are stopped. */
type ServerParts = {
  acceptor: Acceptor
  workerPool: WorkerPool
  children: Awaited<ReturnType<typeof startChildren>>
  admin: Server | null
  places: PlaceMonitor | null
  store: Store
  logOutput: OpenedLog
}

/** Resolves when the server answers requests. Throws CommandFault, and StoreFault if the store cannot be opened. */
export async function startServer(settings: Settings, options: ServeOptions): Promise<RunningServer> {
  const { demo, examples = [], crawl = null, hasCertificateLogs = false, settingNames = PUBLIC_SETTING_NAMES } = options
  const { secret } = settings
  const limits = loadPlanLimits(settings)
  mailSettings(settings) // throws if a part is missing
  const store = await openStore(settings.store, {
    access: 'read',
    ledger: 'thread',
    secret,
    pool: PRIMARY_POOL_SIZE,
    demo,
  })
  const logOutput = openLog(settings.logLevel)
  const acceptor = new Acceptor(settings)
  const parts: ServerParts = {
    acceptor,
    workerPool: new WorkerPool(logOutput.log, acceptor),
    children: [],
    admin: null,
    places: null,
    store,
    logOutput,
  }
  try {
    await store.ledger.secrets(await store.now()) // throws if the secret is not that of the installation
    parts.places = await claimOrReportPlaces(settings, parts)
    parts.admin = await startAdmin(settings, parts)
    const pageFolder = settings.web ? await preparePage(logOutput.log) : null
    const port = await startWorkers({ settings, limits, demo, examples, pageFolder }, settingNames, parts)
    if (crawl) await checkCrawlAdminPort(settings.crawlAdmin)
    parts.children = await startChildren({ ...settings, port }, { crawl, hasCertificateLogs, demo }, logOutput.log)
    const ended = stopRequested().then(() => stopServer(parts))
    return { address: `http://${bracketedHost(settings.host)}:${port}`, ended, store }
  } catch (error) {
    await stopServer(parts)
    throw error
  }
}

/** The folder of the bundle; null, and a warning, if it cannot be built. */
async function preparePage(log: OpenedLog['log']): Promise<string | null> {
  try {
    return await preparePageBundle()
  } catch (err) {
    log.warn({ err }, 'web page cannot be built: run npm ci, or set DOMAINDEX_WEB=off')
    return null
  }
}

/** Claims the places of a new installation. Logs those that are not of this one; the workers are not ready then. */
async function claimOrReportPlaces(
  settings: Settings,
  { store, logOutput: { log } }: ServerParts,
): Promise<PlaceMonitor> {
  const places = await placesOf(settings)
  return monitorPlaces(() => wrongPlaces(places, store, 'claimer'), {
    onChange(faults) {
      for (const fault of faults) log.error(`not ready: ${fault}`)
      if (faults.length === 0) log.warn('all places for files are those of this installation again')
    },
    onFailure: (reason) => log.warn(`the places for files cannot be checked: ${reason}`),
  })
}

/** Starts the admin listener; null if the settings turn it off. */
async function startAdmin(
  settings: Settings,
  { store, workerPool, acceptor, logOutput }: ServerParts,
): Promise<Server | null> {
  const { admin } = settings
  if (admin === null) return null
  const fileStore = await openFileStore(settings)
  try {
    const { server, port } = await openAdminListener(admin, serverMetrics(store, fileStore, workerPool, acceptor))
    logOutput.log.info({ host: admin.host, port }, 'admin listener started')
    return server
  } catch (error) {
    throw listenFault(error as NodeJS.ErrnoException, admin, ADMIN_SETTING_NAMES)
  }
}

/** Starts the workers, then listens. Returns the port. */
async function startWorkers(
  order: WorkerOrder,
  settingNames: typeof PUBLIC_SETTING_NAMES,
  { workerPool, acceptor }: ServerParts,
): Promise<number> {
  const { host, port, workers } = order.settings
  try {
    await workerPool.start(order, workers)
    return await acceptor.listen(port)
  } catch (error) {
    throw listenFault(error as NodeJS.ErrnoException, { host, port }, settingNames)
  }
}

/** Resolves at the first SIGINT or SIGTERM. A second signal ends this process at once, and its workers follow. */
function stopRequested(): Promise<void> {
  return new Promise((resolve) => {
    listenForStopSignals(() => resolve())
  })
}

async function stopServer({ workerPool, children, admin, places, store, logOutput }: ServerParts): Promise<void> {
  places?.close()
  await Promise.all([workerPool.stop(), ...children.map((each) => each.stop())])
  admin?.closeAllConnections()
  admin?.close()
  await store.close()
  await logOutput.end()
}
