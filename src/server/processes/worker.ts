/** A worker process of `serve`: answers requests. */

import type { Socket } from 'node:net'
import { collectDefaultMetrics } from 'prom-client'
import { type Api, createApi } from '../../api/api.ts'
import type { HealthState } from '../../api/context/context.ts'
import { ApiMetrics } from '../../api/http/metrics.ts'
import { withTimeout } from '../../api/http/timers.ts'
import { WebPage } from '../../api/page/page.ts'
import type { Settings } from '../../config/settings.ts'
import { mailSettings } from '../../config/web.ts'
import { openFileStore } from '../../jobs/file-store/open.ts'
import { openSimilarityService } from '../../similar/query/similarity-service.ts'
import { openStore } from '../../store/open.ts'
import { StoreFault } from '../../store/port/fault.ts'
import type { Store } from '../../store/port/store.ts'
import { drainConnections } from '../connections/drain.ts'
import { type OpenedLog, openLog } from '../log.ts'
import { cachedOperation } from '../operation-state.ts'
import { wrongPlaces } from '../places/check.ts'
import { monitorPlaces, type PlaceMonitor } from '../places/monitor.ts'
import { placesOf } from '../places/place.ts'
import { SYSTEM_CLOCK } from '../system-clock.ts'
import { type ClockReport, logClock } from './clock-check.ts'
import { sendHeartbeats } from './heartbeat.ts'
import { isWorkerCommand, type WorkerOrder, type WorkerReport } from './messages.ts'
import { sharedRuns } from './shared-runs.ts'
import { monitorStore, type StoreMonitor } from './store-monitor.ts'

/** Milliseconds for which a call waits for a store that does not respond. */
const STORE_SILENCE_MS = 10_000
/** Milliseconds for which a reading of the quota waits for the other workers. */
const POOL_SETTLE_TIMEOUT_MS = 1_000
/** Milliseconds for which the numbers of closed connections are collected before they are sent. */
const CLOSED_REPORT_DELAY_MS = 50

type RunningWorker = {
  api: Api
  storeMonitor: StoreMonitor
  store: Store
  logOutput: OpenedLog
  metrics: ApiMetrics
  /** Whether every worker of the pool serves. */
  isPoolComplete: boolean
  ending: AbortController
  /** Numbers of closed connections that are not reported to the primary yet. */
  closed: number[]
}

let runningWorker: RunningWorker | null = null

// Only the primary stops its workers. A signal to the whole process group must not.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => {})

process.on('message', (message, handle) => {
  if (!isWorkerCommand(message)) return
  if (message.do === 'serve') void startServing(message.order)
  else if (runningWorker === null) process.exit(0)
  else if (message.do === 'takeConnection') takeConnection(runningWorker, message, handle as Socket | undefined)
  else if (message.do === 'reportMetrics') void reportMetrics(runningWorker)
  else if (message.do === 'setPoolReadiness') setPoolReadiness(runningWorker, message.isPoolComplete)
  else if (message.do === 'settleQuota') void settleQuota(runningWorker)
  else if (message.do === 'poolSettled') poolSettled()
  else void (message.do === 'stopAccepting' ? stopAccepting(runningWorker) : drainAndExit(runningWorker))
})

async function startServing({ settings, limits, demo, examples, pageFolder }: WorkerOrder): Promise<void> {
  const logOutput = openLog(settings.logLevel)
  const { log } = logOutput
  const fail = (error: unknown): void => {
    log.fatal({ err: error }, 'worker stopped')
    process.exit(1)
  }
  process.on('uncaughtException', fail)
  process.on('unhandledRejection', fail)
  try {
    const store = await openWorkerStore(settings, demo)
    const storeMonitor = await monitorStore(store, ...storeLogs(log))
    const places = await monitorPlacesOf(settings, store)
    const readiness = (): HealthState => readinessOf(storeMonitor, places)
    const isReady = (): boolean => readiness() === 'ok'
    const metrics = createWorkerMetrics(isReady, storeMonitor.clock)
    const similarSearch = openSimilarityService(store)
    const fileStore = await openFileStore(settings)
    const api = await createApi({
      ...{ store, similarSearch, fileStore, settings, limits, log, metrics, examples, now: storeMonitor.now },
      readiness: () => poolReadiness(readiness(), runningWorker?.isPoolComplete === true),
      operation: cachedOperation(store, fileStore, () => performance.now()),
      mail: mailSettings(settings),
      page: pageFolder === null ? null : new WebPage(pageFolder),
      lookupCrawlRequests: lookupCrawlRequestsOf(settings, store),
      settleServer: sharedRuns(settlePool),
    })
    const ending = new AbortController()
    void similarSearch.refresh(SYSTEM_CLOCK, ending.signal)
    runningWorker = { api, storeMonitor, store, logOutput, metrics, isPoolComplete: false, ending, closed: [] }
    sendHeartbeats(isReady)
    sendReport({ to: 'primary', is: 'ready' })
  } catch (error) {
    await reportFailure(error as NodeJS.ErrnoException, logOutput)
  }
}

function openWorkerStore({ store, secret, pool }: Settings, demo: boolean): Promise<Store> {
  return openStore(store, { access: 'read', ledger: 'primary', secret, pool, maxSilence: STORE_SILENCE_MS, demo })
}

function readinessOf(storeMonitor: StoreMonitor, places: PlaceMonitor): HealthState {
  const state = storeMonitor.readiness()
  return state === 'ok' && !places.areRight() ? 'a place for files is wrong' : state
}

function poolReadiness(own: HealthState, isPoolComplete: boolean): HealthState {
  return own === 'ok' && !isPoolComplete ? 'waiting for the other workers' : own
}

/** The primary claims and logs the places for files; a worker only checks them. */
async function monitorPlacesOf(settings: Settings, store: Store): Promise<PlaceMonitor> {
  const places = await placesOf(settings)
  return monitorPlaces(() => wrongPlaces(places, store, 'server'))
}

/** The options of crawl requests from lookups; null if lookups of unknown names cause none. */
function lookupCrawlRequestsOf({ crawlLookupRequests: maxPerDay }: Settings, { crawlRequests }: Store) {
  return maxPerDay === 0 ? null : { crawlRequests, maxPerDay }
}

/** Reports to the primary why this worker cannot serve. */
async function reportFailure(error: NodeJS.ErrnoException, { log, end }: OpenedLog): Promise<void> {
  const { message, code, syscall } = error
  if (syscall === undefined && !(error instanceof StoreFault)) log.error({ err: error }, 'worker cannot serve')
  await end()
  sendReport({ to: 'primary', is: 'failed', message, code: code ?? null })
}

/** The two callbacks of the store monitor. */
function storeLogs(log: OpenedLog['log']) {
  return [(fault: unknown) => logStoreHealth(log, fault), (report: ClockReport) => logClock(log, report)] as const
}

function logStoreHealth(log: OpenedLog['log'], fault: unknown): void {
  if (fault === null) log.warn('store is available again')
  else if (fault instanceof StoreFault) log.error(`not ready: ${fault.message}`)
  else log.error({ err: fault }, 'not ready: store unavailable')
}

function createWorkerMetrics(isReady: () => boolean, clock: StoreMonitor['clock']): ApiMetrics {
  const metrics = new ApiMetrics()
  const readyHelp =
    'Workers whose store responds, whose clock is close to its clock, and whose places for files are right.'
  metrics.gauge('domaindex_workers_ready', readyHelp, () => Number(isReady()))
  const clockHelp = 'Whole seconds by which the clock of this machine is ahead of that of the store.'
  metrics.gauge('domaindex_clock_ahead_seconds', clockHelp, () => clock.ahead, 'average')
  collectDefaultMetrics({ register: metrics.registry })
  return metrics
}

async function reportMetrics({ metrics }: RunningWorker): Promise<void> {
  sendReport({ to: 'primary', is: 'metrics', metrics: await metrics.registry.getMetricsAsJSON() })
}

async function settleQuota({ api }: RunningWorker): Promise<void> {
  await api.settleQuota()
  sendReport({ to: 'primary', is: 'quotaSettled' })
}

/** Continues when all workers of this server have settled, or after POOL_SETTLE_TIMEOUT_MS. */
let poolSettled = (): void => {}

async function settlePool(): Promise<void> {
  const settled = new Promise<void>((resolve) => {
    poolSettled = resolve
  })
  sendReport({ to: 'primary', is: 'settlePool' })
  await withTimeout(settled, POOL_SETTLE_TIMEOUT_MS)
}

function setPoolReadiness(running: RunningWorker, isPoolComplete: boolean): void {
  running.isPoolComplete = isPoolComplete
  sendReport({ to: 'primary', is: 'poolReadinessSet' })
}

/** `socket` is undefined if the client has closed the connection on the way to this process. */
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

async function drainAndExit({ api, storeMonitor, store, logOutput, ending }: RunningWorker): Promise<void> {
  ending.abort()
  await drainConnections(api.connections)
  await api.app.close()
  storeMonitor.close()
  await store.close()
  await logOutput.end()
  process.exit(0)
}

function sendReport(message: WorkerReport): void {
  process.send?.(message)
}
