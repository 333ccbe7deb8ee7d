/** A worker of `serve`: a process that answers requests, as its primary says. */

import type { Socket } from 'node:net'
import { collectDefaultMetrics } from 'prom-client'
import { type Api, createApi } from '../../api/api.ts'
import { ApiMetrics } from '../../api/metrics.ts'
import { openFolderFileStore } from '../../jobs/file-store/folder.ts'
import { openSimilarityService } from '../../similar/query/similarity-service.ts'
import { openStore } from '../../store/open.ts'
import { StoreFault } from '../../store/port/fault.ts'
import type { Store } from '../../store/port/store.ts'
import { drainConnections } from '../connections/drain.ts'
import { type OpenedLog, openLog } from '../log.ts'
import { SYSTEM_CLOCK } from '../system-clock.ts'
import { sendHeartbeats } from './heartbeat.ts'
import { isWorkerCommand, type WorkerOrder, type WorkerReport } from './messages.ts'
import { monitorStore, type StoreMonitor } from './store-monitor.ts'

/** Milliseconds for which a call waits for a store that says nothing. */
const STORE_SILENCE_MS = 10_000
/** Milliseconds for which the numbers of closed connections are gathered. */
const CLOSED_REPORT_DELAY_MS = 50

type RunningWorker = {
  api: Api
  storeMonitor: StoreMonitor
  store: Store
  logOutput: OpenedLog
  metrics: ApiMetrics
  /** Whether every worker of the crew serves. */
  isPoolComplete: boolean
  ending: AbortController
  /** Numbers of connections that were closed, until the primary is told. */
  closed: number[]
}

let runningWorker: RunningWorker | null = null

/** The primary ends its workers: a signal to the whole group must not make them end before their time. */
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => {})

process.on('message', (message, handle) => {
  if (!isWorkerCommand(message)) return
  if (message.do === 'serve') void startServing(message.order)
  else if (runningWorker === null) process.exit(0)
  else if (message.do === 'takeConnection') takeConnection(runningWorker, message, handle as Socket | undefined)
  else if (message.do === 'reportMetrics') void reportMetrics(runningWorker)
  else if (message.do === 'setPoolReadiness') setPoolReadiness(runningWorker, message.isPoolComplete)
  else void (message.do === 'stopAccepting' ? stopAccepting(runningWorker) : drainAndExit(runningWorker))
})

async function startServing({ settings, limits, demo }: WorkerOrder): Promise<void> {
  const output = openLog(settings.logLevel)
  const { log, flush } = output
  const fail = (error: unknown): void => {
    log.fatal({ err: error }, 'worker stopped')
    flush()
    process.exit(1)
  }
  process.on('uncaughtException', fail)
  process.on('unhandledRejection', fail)
  try {
    const { store: url, secret, pool } = settings
    const store = await openStore(url, {
      access: 'read',
      ledger: 'primary',
      secret,
      pool,
      maxSilence: STORE_SILENCE_MS,
      demo,
    })
    const storeMonitor = await monitorStore(store, (hindrance) => logHindrance(log, hindrance))
    const metrics = createWorkerMetrics(storeMonitor)
    const retrieval = openSimilarityService(store)
    const api = await createApi({
      store,
      similarSearch: retrieval,
      fileStore: openFolderFileStore(settings.files),
      settings,
      limits,
      now: storeMonitor.now,
      isReady: () => storeMonitor.isHealthy() && runningWorker?.isPoolComplete === true,
      log,
      metrics,
      lookupCrawlRequests:
        settings.crawlLookupRequests === 0
          ? null
          : { crawlRequests: store.crawlRequests, maxPerDay: settings.crawlLookupRequests },
    })
    const ending = new AbortController()
    void retrieval.refresh(SYSTEM_CLOCK, ending.signal)
    runningWorker = { api, storeMonitor, store, logOutput: output, metrics, isPoolComplete: false, ending, closed: [] }
    sendHeartbeats(storeMonitor.isHealthy)
    sendReport({ to: 'primary', is: 'ready' })
  } catch (error) {
    reportFailure(error as NodeJS.ErrnoException, output)
  }
}

/** Tells the primary why this worker cannot serve. */
function reportFailure(error: NodeJS.ErrnoException, { log, flush }: OpenedLog): void {
  const { message, code, syscall } = error
  if (syscall === undefined && !(error instanceof StoreFault)) log.error({ err: error }, 'worker cannot serve')
  flush()
  sendReport({ to: 'primary', is: 'failed', message, code: code ?? null })
}

function logHindrance(log: OpenedLog['log'], hindrance: unknown): void {
  if (hindrance === null) log.warn('store is available again')
  else if (hindrance instanceof StoreFault) log.error(`not ready: ${hindrance.message}`)
  else log.error({ err: hindrance }, 'not ready: store unavailable')
}

function createWorkerMetrics({ isHealthy: isFelt }: StoreMonitor): ApiMetrics {
  const metrics = new ApiMetrics()
  metrics.gauge('domaindex_workers_ready', 'Processes whose store answers.', () => Number(isFelt()))
  collectDefaultMetrics({ register: metrics.registry })
  return metrics
}

async function reportMetrics({ metrics }: RunningWorker): Promise<void> {
  sendReport({ to: 'primary', is: 'metrics', metrics: await metrics.registry.getMetricsAsJSON() })
}

function setPoolReadiness(running: RunningWorker, isPoolComplete: boolean): void {
  running.isPoolComplete = isPoolComplete
  sendReport({ to: 'primary', is: 'poolReadinessSet' })
}

/** There is no socket if its client was gone before it came here. */
function takeConnection(
  running: RunningWorker,
  { number, waited }: { number: number; waited: number },
  socket?: Socket,
): void {
  const close = (): void => {
    if (running.closed.push(number) > 1) return
    setTimeout(
      () => sendReport({ to: 'primary', is: 'connectionsClosed', numbers: running.closed.splice(0) }),
      CLOSED_REPORT_DELAY_MS,
    ).unref()
  }
  sendReport({ to: 'primary', is: 'connectionTaken' })
  if (socket === undefined) close()
  else running.api.connections.adopt(socket.once('close', close), waited)
}

function stopAccepting(running: RunningWorker): void {
  running.api.drain()
  sendReport({ to: 'primary', is: 'stopped' })
}

async function drainAndExit({ api, storeMonitor, store, logOutput: output, ending }: RunningWorker): Promise<void> {
  ending.abort()
  await drainConnections(api.connections)
  await api.app.close()
  storeMonitor.close()
  await store.close()
  output.flush()
  process.exit(0)
}

function sendReport(message: WorkerReport): void {
  process.send?.(message)
}
